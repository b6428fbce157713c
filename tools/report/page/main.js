// SPDX-License-Identifier: BSD-3-Clause
// Tabs, made when they are first looked at, and light or dark.
import { efficiencyView, pairsView, patternsView } from "./answers.js";
import { callsView } from "./calls.js";
import { clustersView } from "./clusters.js";
import { data } from "./data.js";
import { distributionsView } from "./distributions.js";
import { make } from "./dom.js";
import { chosenRanks, chooseRanks } from "./filter.js";
import { effortsView } from "./efforts.js";
import { loadView } from "./load.js";
import { matrixView } from "./matrix.js";
import { overview } from "./overview.js";
import { phasesView } from "./phases.js";
import { inPanel, redraw, showTip } from "./picture.js";
import { structureView } from "./structure.js";
import { countText } from "./text.js";
import { timelineView } from "./timeline.js";
import { waitsView } from "./waits.js";

const kViews = [["overview", "Overview", overview], ["load", "Load balance", loadView],
  ["waits", "Waits", waitsView], ["efficiency", "Efficiency", efficiencyView],
  ...(data.efforts ? [["efforts", "Load over time", effortsView]] : []),
  ["phases", "Phases", phasesView], ["clusters", "Clusters", clustersView],
  ["patterns", "Patterns", patternsView], ["matrix", "Messages", matrixView], ["pairs", "Pairs", pairsView], ["structure", "Structure", structureView],
  ["timeline", "Timeline", timelineView], ["distributions", "Distributions", distributionsView],
  ["calls", "Costly calls", callsView]];

const main = document.getElementById("views");
const tabs = new Map();
let current = null;

// What follows # in the address: the view, and the ranks if some are chosen.
function addressOf(name) {
  const ranks = chosenRanks();
  return `#${name}${ranks ? `?ranks=${ranks.text}` : ""}`;
}

// Ranks of an address are chosen; one without them, as of a link within the page, leaves the choice.
function follow(focus) {
  const [name, query] = location.hash.slice(1).split("?ranks=");
  if (query !== undefined) applyRanks(decodeURIComponent(query));
  select(name, focus);
  history.replaceState(null, "", addressOf(current.name));
}

function applyRanks(text) {
  const input = document.getElementById("ranks"), said = document.getElementById("ranks-said");
  const wrong = chooseRanks(text);
  input.value = text;
  said.textContent = wrong;
  if (wrong) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
  if (wrong) return;
  const ranks = chosenRanks();
  input.classList.toggle("used", ranks !== null);
  if (ranks) said.textContent = `${countText(ranks.ranks.length)} of ${countText(data.info.ranks)}`;
  for (const tab of tabs.values()) {
    tab.made = false;
    tab.panel.replaceChildren();
  }
}

function useFilter() {
  const form = document.getElementById("filter"), input = document.getElementById("ranks");
  form.hidden = data.info.ranks < 2;
  const apply = () => {
    if (input.value === (chosenRanks()?.text ?? "")) return;
    applyRanks(input.value);
    select(current.name, false);
    history.replaceState(null, "", addressOf(current.name));
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  for (const kind of ["change", "search"]) input.addEventListener(kind, apply);
}

function select(name, focus) {
  const next = tabs.get(name) ?? tabs.get("overview");
  for (const tab of tabs.values()) {
    const chosen = tab === next;
    tab.button.setAttribute("aria-selected", String(chosen));
    tab.button.tabIndex = chosen ? 0 : -1;
    tab.panel.hidden = !chosen;
  }
  current = next;
  if (!next.made) {
    next.made = true;
    inPanel(next.panel, next.build);
  }
  showTip("");
  scrollTo(0, 0);
  redraw(next.panel);
  if (focus) next.button.focus();
}

function shade() {
  const root = document.documentElement;
  const wanted = root.dataset.theme;
  const dark = wanted ? wanted === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.shade = dark ? "dark" : "light";
  if (current) redraw(current.panel);
}

function begin() {
  const { info } = data;
  const program = info.program.split("/").pop() || data.trace;
  document.title = `${program}, ${countText(info.ranks)} ranks: Chameleon report`;
  document.getElementById("title").textContent = program;
  document.getElementById("subtitle").textContent = `${countText(info.ranks)} ranks, ${data.trace}`;
  document.getElementById("maker").textContent = `Chameleon ${info.version}`;
  shade();
  const list = document.getElementById("tabs");
  for (const [name, title, build] of kViews) {
    const button = make("button", { type: "button", role: "tab", id: `tab-${name}`,
      "aria-controls": `view-${name}`, onclick: () => { location.hash = addressOf(name); } }, title);
    const panel = make("section", { role: "tabpanel", id: `view-${name}`, hidden: true,
                                    "aria-labelledby": `tab-${name}` });
    tabs.set(name, { name, button, panel, build, made: false });
    list.append(button);
    main.append(panel);
  }
  list.addEventListener("keydown", (event) => {
    const names = [...tabs.keys()];
    const at = names.findIndex((name) => tabs.get(name).button === document.activeElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (next === undefined || at < 0) return;
    event.preventDefault();
    const name = names[(next + names.length) % names.length];
    history.replaceState(null, "", addressOf(name));
    select(name, true);
  });
  addEventListener("hashchange", () => follow(false));
  useFilter();
  let wait = 0;
  addEventListener("resize", () => {
    clearTimeout(wait);
    wait = setTimeout(() => redraw(current.panel), 60);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", shade);
  const theme = document.getElementById("theme");
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const order = [undefined, "light", "dark"];
    const next = order[(order.indexOf(root.dataset.theme) + 1) % order.length];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    theme.textContent = `Theme: ${next ?? "system"}`;
    shade();
  });
  follow(false);
}

begin();
