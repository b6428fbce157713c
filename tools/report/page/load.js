// SPDX-License-Identifier: BSD-3-Clause
// How work is shared among ranks.
import { rankBars, slowestRank } from "./bars.js";
import { data, kTimesShared, placeLink, share, timeClasses, timed, timesShared } from "./data.js";
import { asTable, card, make, note, table } from "./dom.js";
import { filterNote, takesAny, takesRank } from "./filter.js";
import { slowTable } from "./series.js";
import { countText, listText, parseRanks, shareText, timeText } from "./text.js";

// What ranks of a class are like: where each rank has its own times there is nothing to say.
function classTable() {
  const { info, load } = data;
  if (!timeClasses || info.streams > info.ranks || load.ranks_per_point > 1) return [];
  if (timeClasses.every((one) => /^\d+$/.test(one.ranks))) return [note("Each rank has its own times at every place.")];
  const at = new Map(load.rank.map((rank, i) => [rank, i]));
  const rows = timeClasses.filter((one) => takesAny(one.ranks)).map(({ ranks, spread }) => {
    const list = parseRanks(ranks).map((rank) => at.get(rank)).filter((i) => i !== undefined);
    const mean = (values) => list.reduce((sum, i) => sum + values[i], 0) / Math.max(list.length, 1);
    return { ranks, spread, count: list.length, compute: mean(load.compute), in_call: mean(load.in_call) };
  });
  return [
    make("h2", {}, "Classes of ranks with similar times"),
    note("The time of a rank at a place is the mean of its class. Within: the largest deviation of a rank from this mean, at places that take at least 1 % of its time."),
    table("Classes", [
      { title: "ranks", value: (row) => row.ranks, text: (row) => listText(row.ranks), class: "wrap" },
      { title: "how many", number: true, value: (row) => row.count, text: (row) => countText(row.count) },
      { title: "within", number: true, value: (row) => row.spread, text: (row) => (row.count > 1 ? shareText(row.spread) : "its own") },
      { title: "computing, a rank", number: true, value: (row) => row.compute, text: (row) => timeText(row.compute) },
      { title: "in MPI, a rank", number: true, value: (row) => row.in_call, text: (row) => timeText(row.in_call) },
    ], rows, { shown: 20 }),
  ];
}

export function loadView() {
  const { load } = data;
  if (!timed) return [note("No times were recorded (CHAMELEON_TIMING=none).")];
  const of = load.ranks_per_point;
  const balance = load.most_compute > 0 ? load.mean_compute / load.most_compute : 1;
  const communication = load.run > 0 ? load.most_compute / load.run : 1;
  const rows = load.rank.map((rank, i) => ({ rank, compute: load.compute[i],
    in_call: load.in_call[i], waiting: load.waiting[i], tool: load.tool[i], events: load.events[i] }));
  const shown = rows.filter((row) => takesRank(row.rank));
  const places = load.places.filter((place) => takesAny(place.slowest));
  const most = load.places.length ? load.places[0].most - load.places[0].mean : 0;
  return [
    make("div", { class: "cards" },
      card("Parallel efficiency", shareText(balance * communication), "load balance × communication"),
      card("Load balance", shareText(balance), "mean / longest computing"),
      card("Communication efficiency", shareText(communication), "longest computing / run"),
      card("Longest computing", timeText(load.most_compute), `${data.info.load ? `${slowestRank()}; ` : ""}mean ${timeText(load.mean_compute)}`)),
    filterNote(". The factors above are those of all ranks; the tables below have the places where chosen ranks are among the slowest."),
    timesShared ? note(kTimesShared) : null,
    ...(data.series.length > 0 ? [make("h2", {}, "Slow time steps"), ...slowTable()] : []),
    make("h2", {}, "Time by rank"),
    of > 1 ? note(`The times are means of ${of} ranks that follow each other.`) : null,
    ...rankBars(rows),
    asTable(() => table("Time by rank", [
      { title: of > 1 ? `first of ${of} ranks` : "rank", number: true, value: (row) => row.rank },
      { title: "computing", number: true, value: (row) => row.compute, text: (row) => timeText(row.compute) },
      { title: "in MPI", number: true, value: (row) => row.in_call, text: (row) => timeText(row.in_call) },
      { title: "waiting at markers", number: true, value: (row) => row.waiting, text: (row) => timeText(row.waiting) },
      { title: "in the tool", number: true, value: (row) => row.tool, text: (row) => timeText(row.tool) },
      { title: "calls", number: true, value: (row) => row.events, text: (row) => countText(row.events) },
    ], shown)),
    ...classTable(),
    make("h2", {}, "Where ranks compute for different times"),
    note("Computation is reported at the MPI call that follows it. The longest less the mean is what perfect balance at that place would save."),
    load.places_left_out
      ? note("Too many places and ranks to compare.")
      : table("Places, by the longest less the mean", [
        { title: "longest − mean", number: true, value: (row) => row.most - row.mean,
          text: (row) => share(row.most - row.mean, most, timeText(row.most - row.mean)) },
        { title: "before", value: (row) => row.call },
        { title: "place", value: (row) => row.site, text: (row) => placeLink(row.site) },
        { title: "longest", number: true, value: (row) => row.most, text: (row) => timeText(row.most) },
        { title: "mean", number: true, value: (row) => row.mean, text: (row) => timeText(row.mean) },
        { title: "least", number: true, value: (row) => row.least, text: (row) => timeText(row.least) },
        { title: "ranks there", number: true, value: (row) => row.ranks, text: (row) => countText(row.ranks) },
        { title: "slowest ranks", value: (row) => row.slowest, text: (row) => listText(row.slowest), class: "wrap" },
      ], places, { shown: 20 }),
  ].filter(Boolean);
}
