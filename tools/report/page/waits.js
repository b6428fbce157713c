// SPDX-License-Identifier: BSD-3-Clause
// What the time in calls was spent on: waiting for whom, transfer, and the rest; and the chain of
// calls on which the length of the run depends.
import { data, placeLink, share, timed } from "./data.js";
import { card, make, note, table } from "./dom.js";
import { filterNote, takesAny, takesRank } from "./filter.js";
import { countText, listText, ranksText, shareText, timeText } from "./text.js";

export const kWaitKinds = [["late_sender", "late sender"], ["late_receiver", "late receiver"],
  ["late_root", "late root"], ["early_root", "early root"], ["all_to_all", "N×N"],
  ["barrier", "barrier"], ["marker", "marker"]];

const kWaitMeans = {
  late_sender: "a receive, or what completes it, for the send",
  late_receiver: "a send that outlasts the post of its receive, for that post",
  late_root: "a rank in a collective call for its root",
  early_root: "the root for the last rank",
  all_to_all: "a rank in a collective call for the last rank, or in a scan for those before it",
  barrier: "a rank in a barrier for the last rank",
  marker: "a rank at a marker for slower ranks; not in the time of calls",
};

const secondsOf = (row, key) => row[`${key}_seconds`];
const secondsText = (seconds) => (seconds > 0 ? timeText(seconds * 1e9) : "");

function kindsIn(rows) {
  return kWaitKinds.filter(([key]) => rows.some((row) => secondsOf(row, key) > 0));
}

function waitColumns(rows) {
  const most = Math.max(...rows.map((row) => row.waiting_seconds), 0);
  const plain = (title, key) => ({ title, number: true, value: (row) => secondsOf(row, key),
                                   text: (row) => secondsText(secondsOf(row, key)) });
  return [
    { title: "waiting", number: true, value: (row) => row.waiting_seconds,
      text: (row) => share(row.waiting_seconds, most, secondsText(row.waiting_seconds), "wait") },
    plain("transfer", "transfer"), plain("excess", "excess"), plain("in calls", "call"),
    ...kindsIn(rows).map(([key, title]) => plain(title, key)),
  ];
}

function waitParts(waits) {
  const kinds = kindsIn([waits.all]);
  const rows = kinds.map(([key, title]) => ({ key, title, seconds: secondsOf(waits.all, key) }))
    .sort((a, b) => b.seconds - a.seconds);
  const most = rows.length > 0 ? rows[0].seconds : 0;
  return table("Waiting of all ranks", [
    { title: "kind", value: (row) => row.title },
    { title: "all ranks", number: true, value: (row) => row.seconds,
      text: (row) => share(row.seconds, most, secondsText(row.seconds), "wait") },
    { title: "who waits for whom", value: (row) => kWaitMeans[row.key], class: "wrap" },
  ], rows);
}

function criticalPart() {
  const { critical } = data;
  if (!critical) return [];
  const rowsTable = (caption, title, rows, more) => table(caption, [
    { title, value: (row) => row.name },
    { title: "on the path", number: true, value: (row) => row.seconds,
      text: (row) => share(row.seconds, critical.seconds, secondsText(row.seconds)) },
    { title: "of the run", number: true, value: (row) => row.share, text: (row) => shareText(row.share) },
    { title: "computing", number: true, value: (row) => row.compute_seconds, text: (row) => secondsText(row.compute_seconds) },
    { title: "in calls", number: true, value: (row) => row.call_seconds, text: (row) => secondsText(row.call_seconds) },
    ...more,
  ], rows, { shown: 20 });
  return [
    make("h2", {}, "Critical path"),
    note(`The chain of computing and calls that ends last, on ${ranksText(String(critical.last_rank))}; it goes from rank to rank ${countText(critical.jumps)} times. If something on it takes longer, the run takes longer. Beyond the mean: the most that balance there would save.`),
    critical.lost_jumps > 0 ? note(`${countText(critical.lost_jumps)} waits are not followed: their cause is too long ago.`) : null,
    rowsTable("Functions on the critical path", "function", critical.function.filter((row) => takesAny(row.ranks)), [
      { title: "mean of a rank", number: true, value: (row) => row.mean_compute_seconds, text: (row) => secondsText(row.mean_compute_seconds) },
      { title: "beyond the mean", number: true, value: (row) => row.beyond_seconds, text: (row) => secondsText(row.beyond_seconds) },
      { title: "ranks", value: (row) => row.ranks, text: (row) => listText(row.ranks), class: "wrap" }]),
    rowsTable("Ranks on the critical path", "rank", critical.rank.filter((row) => takesAny(row.ranks)), []),
  ];
}

export function waitsView() {
  const { waits } = data;
  if (!timed) return [note("No times were recorded (CHAMELEON_TIMING=none).")];
  if (!waits) return [note(data.left_out ?? "Ranks have several threads: the waits of single threads are not known.")];
  const { all, by_rank } = waits;
  const part = (seconds) => shareText(all.call_seconds > 0 ? seconds / all.call_seconds : 0);
  const of = by_rank.ranks_per_point;
  const places = waits.places.filter((row) => takesAny(row.longest));
  const ranks = by_rank.rows.filter((row) => takesRank(row.rank));
  return [
    make("div", { class: "cards" },
      card("Waiting", part(all.waiting_seconds), `of the time in MPI, ${timeText(all.call_seconds * 1e9)}`),
      card("Transfer", part(all.transfer_seconds), "what calls take at their best"),
      card("Excess", part(all.excess_seconds), "longer, and no late rank is known")),
    filterNote(". The sums are those of all ranks; tables have the places where chosen ranks wait longest, and these ranks."),
    ...waits.notes.map((line) => note(`${line}.`)),
    waitParts(waits),
    make("h2", {}, "By place"),
    table("Places, by waiting", [
      { title: "place", value: (row) => row.site, text: (row) => placeLink(row.site) },
      { title: "call", value: (row) => row.call },
      ...waitColumns(places),
      { title: "wait longest", value: (row) => row.longest, text: (row) => listText(row.longest), class: "wrap" },
    ], places, { shown: 20 }),
    ...criticalPart(),
    make("h2", {}, "By rank"),
    of > 1 ? note(`Means of ${of} ranks that follow each other.`) : null,
    table("Waiting by rank", [
      { title: of > 1 ? `first of ${of} ranks` : "rank", number: true, value: (row) => row.rank },
      ...waitColumns(ranks)], ranks, { shown: 20 }),
  ].filter(Boolean);
}
