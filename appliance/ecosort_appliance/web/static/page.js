// Puts what the service sends, which it has escaped, in the place of what was there; not while a button has the focus.
"use strict";
const live = document.getElementById("live");
new EventSource(live.dataset.events).addEventListener("message", (event) => {
  if (!live.contains(document.activeElement)) live.innerHTML = event.data;
});
