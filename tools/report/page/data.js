// SPDX-License-Identifier: BSD-3-Clause
// What the command put into the page, and the place in the program that a number belongs to.
import { make, table } from "./dom.js";
import { bytesText, countText, listText, ranksText, timeText } from "./text.js";

export const data = JSON.parse(document.getElementById("data").textContent);

export const timed = data.info.timing !== "none";

// Of ranks that behave alike one sends its times, for all of them: unequal work among them is not
// in the trace, and nothing here may say that there is none.
// Before format 1.4; since then each class of ranks has what was added up over all its ranks.
export const timeClasses = data.info.time_classes;
export const timesShared = !timeClasses && data.info.timing === "histogram" &&
  data.info.count_l > 0 && data.info.clusters.some((one) => !/^\d+$/.test(one.ranks));
export const measured = data.load?.measured ?? false;  // whole times of each rank
export const kTimesShared = measured
  ? "Ranks that behaved alike share the times at a place: they are those of one of these ranks. The sums of computing and of MPI calls are each rank's own. CHAMELEON_TIMING=full or CHAMELEON_CLUSTERING=off keeps every rank's times at every place."
  : "Ranks that behaved alike share the times of one of these ranks: whether they share work evenly is not known. CHAMELEON_TIMING=full or CHAMELEON_CLUSTERING=off keeps the times of each rank.";

// The ranks that take longest at a call of a place, "rank 3: 40 ms": where they stand out.
export function longestText(part) {
  if (!part || !(part.most > 1.1 * part.mean)) return "";
  return `${ranksText(part.ranks)}: ${timeText(part.most)}`;
}

export function siteText(site) {
  return data.frames[data.sites[site].site];
}

export function kindOf(call) {
  return data.kinds[call] ?? "other";
}

export function bytesAtLeast(bytes) {
  return `${data.stats.sent_bytes_complete ? "" : "at least "}${bytesText(bytes)}`;
}

let dialog = null;

function sourceOf(site) {
  if (!site.source) return null;
  return make("pre", { class: "source", tabindex: "0", "aria-label": "Source around the call" },
    site.source.map((line, i) => {
      const number = site.first + i;
      return make("div", { class: number === site.line ? "here" : undefined,
                           "aria-current": number === site.line ? "true" : undefined },
                  make("span", { class: "linenumber" }, String(number)), line || " ");
    }));
}

// All of one place: source, call path, who calls what there and what it costs. `ranks`: of the
// one line of the structure that led here.
function openPlace(index, ranks) {
  const site = data.sites[index];
  const rows = data.paths.filter((row) => row.site === index);
  dialog ??= document.body.appendChild(make("dialog", { "aria-labelledby": "placetitle" }));
  dialog.replaceChildren(
    make("div", { class: "dialoghead" },
      make("h2", { id: "placetitle" }, siteText(index)),
      make("button", { type: "button", onclick: () => dialog.close() }, "Close")),
    make("p", {}, site.file ? `${site.file}:${site.line}` : "No debug information names the line."),
    sourceOf(site) ?? "",
    ranks ? make("p", {}, `Here: ${ranksText(ranks)}`) : "",
    table("Calls at this place", [
      { title: "call", value: (row) => row.call },
      { title: "count", number: true, value: (row) => row.count, text: (row) => countText(row.count) },
      { title: "in call", number: true, value: (row) => row.call_seconds,
        text: (row) => timeText(row.call_seconds * 1e9) },
      { title: "computing before", number: true, value: (row) => row.compute_seconds,
        text: (row) => timeText(row.compute_seconds * 1e9) },
      { title: "sent", number: true, value: (row) => row.sent_bytes,
        text: (row) => bytesText(row.sent_bytes) },
      { title: "ranks", value: (row) => row.ranks, text: (row) => listText(row.ranks), class: "wrap" },
    ], rows),
    make("h3", {}, "Call path, innermost first"),
    make("ol", { class: "frames" }, site.frames.map((frame) => make("li", {}, data.frames[frame]))));
  dialog.showModal();
}

export function placeLink(index, ranks) {
  return make("button", { type: "button", class: "place", "aria-haspopup": "dialog",
                          onclick: () => openPlace(index, ranks) }, siteText(index));
}

// A part of `whole` as a bar behind its text.
export function share(value, whole, text, ink = "bar") {
  const percent = whole > 0 ? Math.max(0, Math.min(100, (100 * value) / whole)) : 0;
  return make("span", { class: "share",
    style: `background:linear-gradient(to left, var(--${ink}) ${percent}%, transparent ${percent}%)` },
    text);
}
