// One question and what becomes of it. Whatever anybody said is put into the page as text.

import { Wait } from "/static/wait.js";
import { send } from "/static/sending.js";

const STATES = {
  sending: "Sending…",
  queued: "Waiting for its turn",
  thinking: "Thinking…",
  answering: "Answering…",
  working: "Working…",
  waiting: "Waiting for you",
  done: "",
  refused: "Refused",
  stopped: "Stopped",
  cancelled: "Cancelled",
};

export class Post {
  /** `number` is null as long as the service has not told of it. */
  constructor(list, chat, number, question) {
    this.element = copy("post");
    this.part(".question").textContent = question;
    if (number !== null) this.element.dataset.post = number;
    this.part(".cancel").onclick = () => {
      this.part(".cancel").disabled = true;
      send(`/chats/${chat}/posts/${number}/cancel`, {});
    };
    const later = number === null ? null : list.querySelector(".post:not([data-post])");
    list.insertBefore(this.element, later); // what is still being sent stays below
    this.steps = new Map(); // the text of each step so far
    this.finished = new Set(); // steps that are answered in full
    this.stale = new Set(); // steps whose text is begun anew by what comes next
    this.waits = new Map(); // by id
    this.tools = new Map(); // by call
    this.show(number === null ? "sending" : "queued");
    this.element.scrollIntoView({ block: "end" });
  }

  get over() {
    return ["done", "stopped", "cancelled"].includes(this.element.dataset.state);
  }

  /** Nothing is before it any more. */
  begin() {
    if (this.element.dataset.state === "queued") this.show("thinking");
  }

  /** Something happened in its turn. */
  tell(event) {
    const told = this[`on_${event.event}`];
    if (told === undefined) return;
    const below = innerHeight + scrollY >= document.body.scrollHeight - 80;
    told.call(this, event);
    if (below) scrollTo(0, document.body.scrollHeight);
  }

  on_text({ step, text }) {
    const before = this.stale.delete(step) ? "" : (this.steps.get(step) ?? "");
    this.write(step, before + text);
    this.show("answering");
  }

  /** Events are lost. What was shown of an answer stays in view until there is something better. */
  on_resync({ step, text }) {
    for (const shown of this.steps.keys()) if (!this.finished.has(shown)) this.stale.add(shown);
    if (text) {
      this.stale.delete(step);
      this.write(step, text);
    }
    this.show(text ? "answering" : "thinking");
  }

  on_retracted({ step }) {
    this.write(step, "");
    this.show("thinking");
  }

  on_retried() {
    this.show("thinking");
  }

  on_step_finished({ step, text }) {
    this.finished.add(step);
    this.stale.delete(step);
    this.write(step, text);
    this.show("thinking");
  }

  on_tool_started({ call, name }) {
    this.tool(call, name, "runs");
    this.show("working");
  }

  on_tool_finished({ call, name, status }) {
    this.tool(call, name, status);
    this.show("thinking");
  }

  on_waiting({ waits }) {
    for (const wait of waits) this.wait(wait).open();
    this.show("waiting");
  }

  on_wait_ended({ wait, resolution }) {
    this.waits.get(wait)?.ended(resolution);
    this.show("thinking");
  }

  on_finished({ result }) {
    const { status, text, reason } = result;
    this.steps.clear();
    this.write(0, text);
    this.part(".tools").replaceChildren();
    for (const wait of this.waits.values()) wait.over();
    this.part(".text").before(this.part(".waits")); // the answer came after them
    this.show(status === "completed" ? "done" : status, reason);
  }

  refused(why) {
    this.show("refused", why);
  }

  remove() {
    this.element.remove();
  }

  // drawing

  part(name) {
    return this.element.querySelector(name);
  }

  write(step, text) {
    this.steps.set(step, text);
    const said = [...this.steps.values()].filter((text) => text);
    this.part(".text").textContent = said.join("\n\n");
  }

  tool(call, name, status) {
    if (!this.tools.has(call)) {
      this.tools.set(call, this.part(".tools").appendChild(document.createElement("li")));
    }
    const item = this.tools.get(call);
    item.textContent = name;
    item.dataset.status = status;
  }

  wait(told) {
    const id = told.key.split(".")[0];
    if (!this.waits.has(id)) {
      this.waits.set(id, new Wait(told));
      this.part(".waits").append(this.waits.get(id).element);
    }
    return this.waits.get(id);
  }

  show(state, more = "") {
    this.element.dataset.state = state;
    this.part(".state").textContent = STATES[state] + (more ? `: ${more}` : "");
    if (state !== "waiting") for (const wait of this.waits.values()) wait.pause();
  }
}

export function copy(name) {
  return document.querySelector(`template#${name}`).content.firstElementChild.cloneNode(true);
}
