// SPDX-License-Identifier: BSD-3-Clause
// Patterns of communication, efficiencies, and pairs of ranks.
import { data, placeLink, share } from "./data.js";
import { card, make, note, table } from "./dom.js";
import { filterNote, takesAny, takesRank } from "./filter.js";
import { pairPlots } from "./plots.js";
import { treePicture } from "./tree.js";
import { bytesText, countText, listText, shareText, timeText } from "./text.js";

const leftOut = () => [note(data.left_out ?? "Ranks have several threads: this view needs one sequence of calls for each rank.")];

export function efficiencyView() {
  const { efficiency } = data;
  if (!efficiency) return leftOut();
  const rows = [
    ["parallel efficiency", efficiency.parallel, "load balance × communication efficiency", ""],
    ["load balance", efficiency.load_balance, "mean computing of a rank / longest", "some ranks compute more than others"],
    ["communication efficiency", efficiency.communication, "longest computing / run", ""],
    ["serialisation", efficiency.serialisation, "longest computing / run on an ideal network", "ranks wait for each other although all compute alike"],
    ["transfer", efficiency.transfer, "run on an ideal network / run", "messages and calls take their time"]];
  return [
    filterNote(". The factors are those of all ranks, not of some. Load balance shows the times of each chosen rank."),
    make("div", { class: "cards" }, rows.map(([title, value, words]) => card(title[0].toUpperCase() + title.slice(1), shareText(value), words))),
    note(`The run takes ${timeText(efficiency.run_seconds * 1e9)}, on an ideal network ${timeText(efficiency.ideal_seconds * 1e9)}: there calls take no time, and only waiting for others is left.`),
    table("Factors of parallel efficiency", [
      { title: "factor", value: (row) => row[0] },
      { title: "value", number: true, value: (row) => row[1], text: (row) => share(row[1], 1, shareText(row[1])) },
      { title: "is", value: (row) => row[2] },
      { title: "low if", value: (row) => row[3], class: "wrap" }], rows),
  ].filter(Boolean);
}

export function patternsView() {
  const { patterns } = data;
  if (!patterns) return leftOut();
  const most = Math.max(...patterns.rows.map((row) => row.mean * row.instances), 0);
  return [
    note(`${countText(patterns.patterns)} patterns of ${countText(patterns.families)} families, ${countText(patterns.instances)} instances. A pattern is a group of messages and collectives that some ranks repeat. Patterns with the same relative partners, from the same lines of the program, are a family.`),
    patterns.unmatched > 0 ? note(`${countText(patterns.unmatched)} messages and collectives are unmatched: the instances around them may be too small.`) : null,
    filterNote(". Families in which they take part; counts and times are those of all their instances."),
    table("Families, by their time", [
      { title: "function", value: (row) => row.function, class: "wrap" },
      { title: "family", value: (row) => row.family },
      { title: "place", value: (row) => row.site ?? -1, text: (row) => (row.site === undefined ? "" : placeLink(row.site)) },
      { title: "instances × mean", number: true, value: (row) => row.mean * row.instances,
        text: (row) => share(row.mean * row.instances, most, timeText(row.mean * row.instances)) },
      { title: "instances", number: true, value: (row) => row.instances, text: (row) => countText(row.instances) },
      { title: "mean", number: true, value: (row) => row.mean, text: (row) => timeText(row.mean) },
      { title: "longest", number: true, value: (row) => row.most, text: (row) => timeText(row.most) },
      { title: "patterns", number: true, value: (row) => row.patterns, text: (row) => countText(row.patterns) },
      { title: "ranks", number: true, value: (row) => row.most_ranks,
        text: (row) => (row.least_ranks === row.most_ranks ? countText(row.most_ranks) : `${row.least_ranks}–${row.most_ranks}`) },
      { title: "bytes", number: true, value: (row) => row.bytes, text: (row) => bytesText(row.bytes) },
    ], patterns.rows.filter((row) => takesAny(row.ranks)), { shown: 25 }),
  ].filter(Boolean);
}

function pairTable(caption, rows, byTime) {
  const most = Math.max(...rows.map((row) => (byTime ? row.transfer : row.bytes)), 0);
  return table(caption, [
    { title: "ranks", value: (row) => row.a, text: (row) => `${row.a} and ${row.b}` },
    { title: "bytes", number: true, value: (row) => row.bytes, text: (row) => (byTime ? bytesText(row.bytes) : share(row.bytes, most, bytesText(row.bytes))) },
    { title: "messages", number: true, value: (row) => row.messages, text: (row) => countText(row.messages) },
    ...(byTime ? [
      { title: "time of messages", number: true, value: (row) => row.transfer, text: (row) => share(row.transfer, most, timeText(row.transfer)) },
      { title: "beyond what is expected", number: true, value: (row) => row.residual, text: (row) => (row.residual > 0 ? timeText(row.residual) : "") }] : []),
  ], rows, { shown: 20 });
}

export function pairsView() {
  const { pairs } = data;
  if (!pairs) return leftOut();
  if (pairs.nearest.length === 0) return [note("No messages were sent.")];
  const byTime = pairs.by === "transfer";
  const taken = (pair) => takesRank(pair.a) || takesRank(pair.b);
  const outstanding = pairs.outstanding.filter(taken);
  return [
    filterNote(". Pairs and clusters with them; in the picture their numbers are strong."),
    note(byTime ? "By the time of messages, from the beginning of the send to the end of the call that completes its receive; both directions together."
      : "By bytes, both directions together. CHAMELEON_TIMING=full adds the times of messages."),
    make("h2", {}, "Pairs that stand out"),
    outstanding.length > 0 ? pairTable("Pairs that have far more than the others", outstanding, byTime) : note("None."),
    ...(pairs.plots ? pairPlots(pairs.plots.filter(taken)) : []),
    make("h2", {}, "Clusters of ranks that belong together"),
    table("Clusters, by single linkage", [
      { title: "cluster", number: true, value: (row) => row.number },
      { title: "ranks", value: (row) => row.ranks, text: (row) => listText(row.ranks), class: "wrap" }],
    pairs.clusters.map((ranks, i) => ({ number: i + 1, ranks })).filter((row) => takesAny(row.ranks)), { shown: 20 }),
    ...(pairs.tree ? treePicture(pairs.tree, byTime ? (seconds) => timeText(seconds * 1e9) : bytesText) : [note("There are too many ranks for a picture: chameleon pairs --svg draws one.")]),
    make("h2", {}, "Nearest pairs"),
    pairTable("Pairs, the nearest first", pairs.nearest.filter(taken), byTime),
  ].filter(Boolean);
}
