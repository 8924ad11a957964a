// Puts what the service sends, which it has escaped, in the place of what was there; not while a button has the focus.
// Says when nothing comes any more: what is shown then is old.
"use strict";
const live = document.getElementById("live");
const lost = document.getElementById("lost");
const events = new EventSource(live.dataset.events);
events.addEventListener("message", (event) => {
  if (!live.contains(document.activeElement)) live.innerHTML = event.data;
});
events.addEventListener("open", () => { lost.hidden = true; });
events.addEventListener("error", () => { lost.hidden = false; });
