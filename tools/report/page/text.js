// SPDX-License-Identifier: BSD-3-Clause
// Amounts as people read them, with three digits.

function digits(value) {
  if (value === 0) return "0";
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 2));
}

export function timeText(ns) {
  const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  for (const [unit, size] of units) if (Math.abs(ns) >= 0.9995 * size) return `${digits(ns / size)} ${unit}`;
  return `${digits(ns)} ns`;
}

export function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (bytes >= 1024 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return unit === 0 ? `${Math.round(bytes)} B` : `${digits(bytes)} ${units[unit]}`;
}

export function countText(count) {
  return Math.round(count).toLocaleString("en-US");
}

export function shareText(share) {
  const percent = 100 * share;
  return `${percent !== 0 && percent < 0.1 ? "<0.1" : percent.toFixed(1)} %`;
}

// "3", "0-15", "0-56:8" and "+STRIDE*COUNT" after them, by commas: as the command prints ranks.
export function parseRanks(text) {
  const ranks = [];
  for (const term of text.split(",")) {
    const match = /^(\d+)(?:-(\d+)(?::(\d+))?)?((?:\+\d+\*\d+)*)$/.exec(term.trim());
    if (!match) continue;
    const first = Number(match[1]);
    const last = match[2] === undefined ? first : Number(match[2]);
    let some = [];
    for (let rank = first; rank <= last; rank += Number(match[3] ?? 1)) some.push(rank);
    for (const [, stride, count] of match[4].matchAll(/\+(\d+)\*(\d+)/g)) {
      const block = some;
      some = [];
      for (let i = 0; i < Number(count); ++i)
        for (const rank of block) some.push(rank + i * Number(stride));
    }
    for (const rank of some) ranks.push(rank);
  }
  return ranks;
}

const kMostRuns = 6;

// Ranks to read: "5-6, 9-10" for "5-6+4*2". What would take too many words stays as it is.
export function listText(ranks) {
  const asItIs = ranks.replaceAll(",", ", "), runs = [];
  for (const term of ranks.split(",")) {
    const match = /^(\d+)(?:-(\d+)(?::(\d+))?)?((?:\+\d+\*\d+)*)$/.exec(term.trim());
    if (!match) return asItIs;
    const first = Number(match[1]), last = Number(match[2] ?? first), step = Number(match[3] ?? 1);
    if (step > 1 && (last - first) / step >= kMostRuns) return asItIs;
    let some = [];
    if (step > 1) for (let rank = first; rank <= last; rank += step) some.push([rank, rank]);
    else some.push([first, last]);
    for (const [, stride, count] of match[4].matchAll(/\+(\d+)\*(\d+)/g)) {
      if (some.length * Number(count) > kMostRuns) return asItIs;
      some = Array.from({ length: Number(count) }, (_, i) =>
        some.map(([from, to]) => [from + i * stride, to + i * stride])).flat();
    }
    runs.push(...some);
    if (runs.length > kMostRuns) return asItIs;
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}

// What "+8*4" says, where `lists` have it.
export function listNote(lists) {
  return lists.some((ranks) => /[+]/.test(listText(ranks)))
    ? "0-3+8*4 are the ranks 0-3 and the same 8 ranks on, four times in all." : "";
}

export function ranksText(ranks) {
  return `${/^\d+$/.test(ranks) ? "rank" : "ranks"} ${listText(ranks)}`;
}
