// SPDX-License-Identifier: BSD-3-Clause
// The ranks that a reader has chosen. Every view shows only these, or says why it cannot.
import { data } from "./data.js";
import { note } from "./dom.js";
import { countText, listText, parseRanks } from "./text.js";

const kTermOfRanks = /^\d+(-\d+(:\d+)?)?((\+\d+\*\d+)*)$/;
const kMostUnited = 100000;  // ranks that are worth adding up one by one

let chosen = null;  // {text, ranks: ascending}; null: all

export function chosenRanks() {
  return chosen;
}

// Ranks from text such as "3, 8-15"; empty: all. Returns what is wrong with it, or "".
export function chooseRanks(text) {
  const terms = text.split(/[\s,]+/).filter(Boolean);
  if (terms.length === 0) {
    chosen = null;
    return "";
  }
  const wrong = terms.find((term) => !kTermOfRanks.test(term));
  if (wrong) return `${wrong} is no list of ranks such as 3, 8-15`;
  const ranks = [...new Set(parseRanks(terms.join(",")))].filter((rank) => rank < data.info.ranks).sort((a, b) => a - b);
  if (ranks.length === 0) return `ranks are numbered from 0 to ${countText(data.info.ranks - 1)}`;
  chosen = { text: terms.join(","), ranks, set: new Set(ranks) };
  return "";
}

export function takesRank(rank) {
  return !chosen || chosen.set.has(rank);
}

// Whether a term such as 0-56:8+64*2 has the rank, without listing its ranks.
function termHas(term, rank) {
  const match = /^(\d+)(?:-(\d+)(?::(\d+))?)?((?:\+\d+\*\d+)*)$/.exec(term.trim());
  if (!match) return false;
  const first = Number(match[1]), last = Number(match[2] ?? first), step = Number(match[3] ?? 1);
  const repeats = [...match[4].matchAll(/\+(\d+)\*(\d+)/g)].map((one) => [Number(one[1]), Number(one[2])]);
  const inBlock = (at, left) => {
    if (left === 0) return at >= first && at <= last && (at - first) % step === 0;
    const [stride, count] = repeats[left - 1];
    for (let i = 0; i < count; ++i) if (inBlock(at - i * stride, left - 1)) return true;
    return false;
  };
  return inBlock(rank, repeats.length);
}

const known = new Map();  // of the ranks chosen now

// Whether one of the ranks in `text` is chosen; text as the command prints ranks.
export function takesAny(text) {
  if (!chosen) return true;
  if (known.of !== chosen) {
    known.clear();
    known.of = chosen;
  }
  if (!known.has(text))
    known.set(text, text.split(",").some((term) => chosen.ranks.some((rank) => termHas(term, rank))));
  return known.get(text);
}

// The ranks of several lists as one, 0-3,7; as they are if they are too many to add up.
export function unite(lists) {
  const different = [...new Set(lists)];
  if (different.length === 1) return different[0];
  const all = new Set();
  for (const list of different) {
    for (const rank of parseRanks(list)) all.add(rank);
    if (all.size > kMostUnited) return different.join(",");
  }
  const parts = [];
  for (const rank of [...all].sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last && rank === last[1] + 1) last[1] = rank;
    else parts.push([rank, rank]);
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");
}

// Over a view: what the choice means there. `words` begin behind the ranks.
export function filterNote(words) {
  return chosen ? note(`Chosen: ${/^\d+$/.test(chosen.text) ? "rank" : "ranks"} ${listText(chosen.text)}${words}`) : null;
}
