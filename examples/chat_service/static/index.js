import { newKey, send } from "/static/sending.js";

const key = newKey(); // one for this page: clicked twice, it is one chat

document.querySelector("#begin").addEventListener("click", async (event) => {
  event.target.disabled = true;
  const { chat } = await send("/chats", {}, key);
  location.assign(`/chats/${chat}`);
});
