// SPDX-License-Identifier: BSD-3-Clause
// Rows of the structure that repeat the same calls with other parameters or on other ranks, as one
// row that opens into its variants. An exchange on every level of a multigrid, or one loop in as
// many versions as there are behaviours, is one line to read.
import { siteText } from "./data.js";
import { unite } from "./filter.js";

const kLongestVariant = 64;  // rows of a variant that are looked for
const kNearlyEqual = 0.75;   // share of calls that two loops have in common

// The places at which a loop, or a call, makes calls. The caller of a function does not matter.
function callsOf(node, known) {
  let calls = known.get(node);
  if (!calls) {
    calls = new Set(node.body ? node.body.flatMap((child) => [...callsOf(child, known)]) : [`${node.call} ${siteText(node.site)}`]);
    known.set(node, calls);
  }
  return calls;
}

function nearlyEqual(a, b, known) {
  const left = callsOf(a, known), right = callsOf(b, known);
  if (!a.body || !b.body) return Boolean(a.body) === Boolean(b.body) && [...left].every((call) => right.has(call));
  let common = 0;
  for (const call of left) if (right.has(call)) ++common;
  return common >= kNearlyEqual * (left.size + right.size - common);
}

function sumOf(nodes) {
  const sum = { count: 0, compute: 0, in_call: 0, sent: 0 };
  for (const node of nodes) for (const key of Object.keys(sum)) sum[key] += node[key];
  return { ...sum, ranks: unite(nodes.map((node) => node.ranks)) };
}

// What a variant consists of: "Irecv ×2, Isend ×2, Waitall".
function wordsOf(nodes) {
  const words = [];
  for (const node of nodes) {
    const word = node.body ? "loop" : node.call;
    if (words.at(-1)?.word === word) ++words.at(-1).count;
    else words.push({ word, count: 1 });
  }
  return words.map(({ word, count }) => (count > 1 ? `${word} ×${count}` : word)).join(", ");
}

// How many times the rows from `at` on are repeated, `length` rows at a time.
function repeatsAt(nodes, at, length, known) {
  let times = 1;
  const equal = (from) => {
    for (let i = 0; i < length; ++i) if (!nodes[from + i] || !nearlyEqual(nodes[at + i], nodes[from + i], known)) return false;
    return true;
  };
  while (at + (times + 1) * length <= nodes.length && equal(at + times * length)) ++times;
  return times;
}

// Nodes, and in their loops, with repetitions as {variants, words, body}.
export function groupVariants(nodes, known = new Map()) {
  const list = [];
  for (let at = 0; at < nodes.length;) {
    let length = 0, times = 1;
    for (let tried = 1; tried <= Math.min(kLongestVariant, (nodes.length - at) / 2) && times < 2; ++tried) {
      times = repeatsAt(nodes, at, tried, known);
      length = tried;
    }
    // Two calls one after the other are shorter than a row about them.
    if (times < 2 || (length === 1 && times === 2 && !nodes[at].body)) {
      const node = nodes[at++];
      list.push(node.body ? { ...node, body: groupVariants(node.body, known) } : node);
      continue;
    }
    const part = nodes.slice(at, at + times * length);
    const variants = Array.from({ length: times }, (_, i) => part.slice(i * length, (i + 1) * length));
    list.push({ ...sumOf(part), variants: times, words: wordsOf(variants[0]), place: placeOf(variants[0]),
      body: length === 1 ? part.map((node) => (node.body ? { ...node, body: groupVariants(node.body, known) } : node))
        : variants.map((rows, i) => ({ ...sumOf(rows), variant: i + 1, words: wordsOf(rows), body: groupVariants(rows, known) })) });
    at += part.length;
  }
  return list;
}

// Where all rows of a variant are: a loop's place, or that of single calls.
function placeOf(rows) {
  if (rows.length === 1) return rows[0].place ?? rows[0].site;
  return rows.find((row) => row.place)?.place ?? rows[0].site;
}
