// A chat as its events tell it. Nothing else is known here: a reload begins at the first event, and a
// page that was cut off goes on after its last one.

import { newKey, send } from "/static/sending.js";
import { Post } from "/static/post.js";

const chat = location.pathname.split("/").pop();
const list = document.querySelector("#posts");
const link = document.querySelector("#link");
const form = document.querySelector("#ask");

const posts = new Map(); // by number, as the service counts them
const sending = new Map(); // by key, until the service tells of them

// What is told

let last = ""; // the last event's place

function listen() {
  const after = last ? `?after=${encodeURIComponent(last)}` : "";
  const source = new EventSource(`/chats/${chat}/events${after}`);
  source.onmessage = (message) => {
    last = message.lastEventId || last;
    tell(JSON.parse(message.data));
  };
  source.onerror = () => {
    show("reconnecting", "Reconnecting…");
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 1000); // it gave up; we don't
  };
}

function tell(event) {
  if (event.event === "hello") {
    show("live", `Release ${event.release}, worker ${event.worker}`);
  } else if (event.event === "anew") {
    location.reload();
  } else if (event.event === "asked") {
    asked(event);
  } else {
    posts.get(event.post)?.tell(event);
  }
  [...posts.values()].find((post) => !post.over)?.begin(); // one after the other
}

function asked({ post, key, text }) {
  sending.get(key)?.remove();
  sending.delete(key);
  forget(key);
  if (posts.has(post)) return;
  posts.set(post, new Post(list, chat, post, text));
}

function show(state, text) {
  link.dataset.state = state;
  link.textContent = text;
}

// What is said. It is kept for the length of the tab, so that a reload in the middle loses nothing.

const kept = () => JSON.parse(sessionStorage.getItem(chat) ?? "{}");
const keep = (key, text) => sessionStorage.setItem(chat, JSON.stringify({ ...kept(), [key]: text }));
const forget = (key) => {
  const { [key]: _, ...others } = kept();
  sessionStorage.setItem(chat, JSON.stringify(others));
};

async function say(key, text) {
  const post = new Post(list, chat, null, text);
  sending.set(key, post);
  keep(key, text);
  try {
    await send(`/chats/${chat}/posts`, { text }, key);
  } catch (refusal) {
    post.refused(refusal.message);
    forget(key);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = form.text.value.trim();
  if (!text) return;
  form.reset();
  say(newKey(), text);
});

form.text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});

for (const [key, text] of Object.entries(kept())) say(key, text);
listen();
