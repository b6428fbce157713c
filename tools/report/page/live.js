// SPDX-License-Identifier: BSD-3-Clause
// Only in pages of `chameleon serve`: asks once a second for news of the job, and loads the page
// again when there are some, unless the reader is at work in it. The view, its place, the theme and
// the pause outlive that.
const kWords = { running: "running", complete: "complete", ended: "ended without MPI_Finalize",
                 unknown: "not complete; rank 0 is on another host" };
const kQuiet = 3000;  // ms without a key or a pointer

const shown = JSON.parse(document.getElementById("live").textContent);
const root = document.documentElement;
const kept = JSON.parse(sessionStorage.getItem("chameleon") ?? "{}");
const told = document.createElement("p");
const pause = document.createElement("button");
let touched = -kQuiet, paused = kept.paused ?? false;

function tell(state, fresh) {
  const word = state ? kWords[state.state] ?? state.state : "chameleon serve has ended";
  const age = state ? `, last flush ${state.age_seconds} s ago` : "";
  told.textContent = `${word}${age}${fresh ? "; there is a newer flush" : ""}`;
}

function keep() {
  sessionStorage.setItem("chameleon", JSON.stringify(
    { paused, scroll: scrollY, theme: root.dataset.theme ?? "", state: told.textContent }));
}

function busy() {
  return paused || document.querySelector("dialog[open]") || performance.now() - touched < kQuiet;
}

async function ask() {
  let state = null;
  try {
    const answer = await fetch("state", { cache: "no-store" });
    if (answer.ok) state = await answer.json();
  } catch { /* the server is gone; the page stays */ }
  const fresh = state !== null && state.version !== shown.version;
  tell(state, fresh);
  if (fresh && !busy()) {
    keep();
    location.reload();
    return;
  }
  setTimeout(ask, 1000);
}

function start() {
  told.id = "live-state";
  told.setAttribute("role", "status");
  pause.id = "live-pause";
  pause.type = "button";
  const name = () => { pause.textContent = paused ? "Refresh again" : "Pause refreshing"; };
  name();
  pause.addEventListener("click", () => {
    paused = !paused;
    touched = -kQuiet;
    name();
    keep();
  });
  document.querySelector("header div").append(told);
  document.getElementById("theme").before(pause);
  document.querySelector("footer").lastChild.textContent =
    ". Refreshed at each flush by chameleon serve, on this host only.";
  for (const kind of ["pointerdown", "wheel", "keydown"])
    addEventListener(kind, (event) => {
      if (event.target !== pause) touched = performance.now();
    }, { passive: true });
  if (kept.theme) {
    const theme = document.getElementById("theme");
    for (let left = 3; left > 0 && root.dataset.theme !== kept.theme; --left) theme.click();
  }
  if (kept.scroll) scrollTo(0, kept.scroll);
  tell(shown, false);
  setTimeout(ask, 1000);
}

start();
