// Something that a turn asks a person. The first answer counts, whoever gives it and wherever.

import { send } from "/static/sending.js";

export class Wait {
  constructor({ key, asked }) {
    const template = document.querySelector("template#wait");
    this.element = template.content.firstElementChild.cloneNode(true);
    this.element.querySelector(".asked").textContent = asked;
    this.element.querySelector(".yes").onclick = () => this.answer(key, true);
    this.element.querySelector(".no").onclick = () => this.answer(key, false);
  }

  async answer(key, yes) {
    this.pause();
    try {
      const { first, word, value } = await send("/answers", { wait: key, yes });
      this.say(first ? `You said ${yes ? "yes" : "no"}.` : `Too late: ${outcome({ word, value })}`);
    } catch (refusal) {
      this.say(`Refused: ${refusal.message}.`);
    }
  }

  /** It was answered, here or anywhere. */
  ended(resolution) {
    this.pause();
    if (!this.said) this.say(outcome(resolution));
  }

  /** It is no longer asked, and why is not known here. */
  over() {
    if (!this.said) this.say("It was answered.");
  }

  /** Its turn goes on. Whether it still asks this is told when it waits again. */
  pause() {
    for (const button of this.element.querySelectorAll("button")) button.disabled = true;
  }

  /** It is still asked. */
  open() {
    if (this.said) return;
    for (const button of this.element.querySelectorAll("button")) button.disabled = false;
  }

  say(text) {
    this.said = text;
    this.element.dataset.over = "";
    this.element.querySelector(".choice").hidden = true;
    const line = this.element.querySelector(".outcome");
    line.textContent = text;
    line.hidden = false;
  }
}

function outcome({ word, value }) {
  if (word === "value") return value === true ? "It was approved." : "It was denied.";
  return word === "timeout" ? "Nobody answered in time." : `It was ${word}: ${value}.`;
}
