// SPDX-License-Identifier: BSD-3-Clause
// What ran, what stands out, what is exact and what is declared.
import { slowestRank } from "./bars.js";
import { bytesAtLeast, data, kTimesShared, measured, placeLink, timeClasses, timed, timesShared } from "./data.js";
import { card, make, note, table } from "./dom.js";
import { chosenRanks, filterNote, takesRank } from "./filter.js";
import { slowWords } from "./series.js";
import { bytesText, countText, parseRanks, ranksText, shareText, timeText } from "./text.js";
import { kWaitKinds } from "./waits.js";

const kUnevenPlaces = 3, kClassesNamed = 3;
const kShortRun = 2e9;  // ns; as in chameleon summary

function runNs() {
  return data.info.run_seconds > 0 ? data.info.run_seconds * 1e9 : data.load.run;
}

function view(name, text) {
  return make("a", { href: `#${name}` }, text);
}

// Who waits for whom, where most, and for how much of the time in MPI; nothing below a tenth of it.
function waitFinding() {
  const { waits } = data;
  if (!waits || !(waits.all.waiting_seconds > 0.1 * waits.all.call_seconds)) return null;
  const seconds = ([key]) => (key === "marker" ? 0 : waits.all[`${key}_seconds`]);
  const [key, title] = kWaitKinds.reduce((a, b) => (seconds(b) > seconds(a) ? b : a));
  const place = waits.places.reduce((a, b) => (b[`${key}_seconds`] > a[`${key}_seconds`] ? b : a));
  return [`Ranks wait for other ranks in ${shareText(waits.all.waiting_seconds / waits.all.call_seconds)} of the MPI time, mostly in ${place.call} at `,
          placeLink(place.site), ` (${title}, ${timeText(seconds([key]) * 1e9)} summed over ranks). `,
          place.longest ? `There ${ranksText(place.longest)} ${/^\d+$/.test(place.longest) ? "waits" : "wait"} longest. ` : "",
          view("waits", "All waits"), "."];
}

// The function on the critical path where balance would save most; nothing below 2 % of the run.
function criticalFinding() {
  const { critical } = data;
  if (!critical || critical.function.length === 0) return null;
  const row = critical.function.reduce((a, b) => (b.beyond_seconds > a.beyond_seconds ? b : a));
  if (!(row.beyond_seconds > 0.02 * critical.seconds)) return null;
  return [`${row.name} is on the critical path for ${timeText(row.compute_seconds * 1e9)} of computing by ${ranksText(row.ranks)}; the mean of all ranks is ${timeText(row.mean_compute_seconds * 1e9)}. Balancing it would save at most ${timeText(row.beyond_seconds * 1e9)}, ${shareText(row.beyond_seconds / critical.seconds)} of the run. `,
          view("waits", "The critical path"), "."];
}

// Sentences a reader would look for, the gravest first; nothing here that the views do not show.
function findings() {
  const list = [];
  const { load, info, stats } = data;
  if (!info.complete)
    list.push(["The run did not reach MPI_Finalize, or is still running: what is here ends at the last flush."]);
  if (!timed) return [...list, ["No times were recorded: there are only counts and bytes."]];
  const slow = [...data.slow].sort((a, b) => b.lost_seconds - a.lost_seconds).slice(0, 3);
  for (const one of slow.sort((a, b) => a.first - b.first)) list.push(slowWords(one));
  if (slow.length > 0) list.at(-1).push(" ", view("load", data.slow.length > slow.length ? "All slow steps" : "The slow steps"), "; ", view("timeline", "the timeline"), ".");
  const balance = load.most_compute > 0 ? load.mean_compute / load.most_compute : 1;
  const worst = load.places[0];
  if (balance < 0.85 && worst && load.most_compute - load.mean_compute > 0.05 * load.run)
    list.push([`Work is shared unevenly (load balance ${shareText(balance)}): ${slowestRank()} computes longest, ${timeText(load.most_compute)}; the mean is ${timeText(load.mean_compute)}. `,
               view("load", "See the ranks"), "."]);
  // One place alone says little: what a rank does less here it may do elsewhere.
  for (const [i, place] of load.places.slice(0, kUnevenPlaces).entries())
    if (balance < 0.85 && place.most - place.mean > 0.05 * load.run)
      list.push([`${i === 0 ? "The largest difference" : "Another one"} is before ${place.call} at `, placeLink(place.site),
                 `: ${ranksText(place.slowest)} computed up to ${timeText(place.most)} there, the mean of ${countText(place.ranks)} ranks is ${timeText(place.mean)}.`]);
  if (load.run > 0 && load.most_compute / load.run < 0.8 && balance >= 0.85)
    list.push([`Even ${load.slowest_rank === undefined ? slowestRank() : `${slowestRank()}, which computes longest,`} spends ${shareText(1 - load.most_compute / load.run)} of the run in MPI: communication or waiting${timesShared && !measured ? "" : ", not unequal work"}. `,
               view("timeline", "See when"), "."]);
  for (const one of [waitFinding(), criticalFinding()]) if (one) list.push(one);
  const whole = stats.compute_seconds + stats.call_seconds;
  if (whole > 0)
    list.push([`${shareText(stats.call_seconds / whole)} of the ranks' time is in MPI, ${shareText(stats.compute_seconds / whole)} between calls.`]);
  const top = data.paths[0];
  if (top && stats.call_seconds > 0)
    list.push([`${shareText(top.call_seconds / stats.call_seconds)} of the MPI time is in ${top.call} at `,
               placeLink(top.site), ". ", view("calls", "All calls"), "."]);
  if (info.tool_share > 0.05)
    list.push([`The tracer took ${shareText(info.tool_share)} of the run; no time on this page includes it. ` +
      (info.acted > 1 && runNs() > kShortRun
        ? (info.call_frequency === 1 ? "Votes at fewer markers (CHAMELEON_CALL_FREQUENCY=auto) reduce it." : "A run that calls MPI less often has less of it.")
        : "Most of it is the start and the end of the run: the longer the run, the smaller its share.")]);
  return list;
}

function timesText() {
  const groups = timeClasses.filter((one) => !/^\d+$/.test(one.ranks));
  if (groups.length === 0) return "Times are those of every rank.";
  const most = Math.max(...groups.map((one) => one.spread));
  const widest = [...groups].sort((a, b) => b.spread - a.spread).slice(0, kClassesNamed);
  return `Times are sums over all ranks of a class with similar times: ${countText(timeClasses.length)} ` +
    `classes; a rank's mean at a place that takes 1 % of its time or more is within ${shareText(most)} of its class's. ` +
    widest.map((one) => `${ranksText(one.ranks).replace(/^(.{60}[^,]*),.*/, "$1, …")}: within ${shareText(one.spread)}.`).join(" ") +
    (groups.length > widest.length ? ` ${countText(groups.length - widest.length)} more classes are in Load balance.` : "");
}

function exactness() {
  const { info, stats } = data;
  const lines = [];
  // Kinds of the same ranks and share are one line.
  const groups = new Map();
  for (const one of info.inexact) {
    const share = stats.given_up[one.kind.toLowerCase()] ?? 0;
    const key = `${one.ranks} ${share}`;
    const group = groups.get(key) ?? { ranks: one.ranks, share, kinds: [] };
    group.kinds.push(one.kind);
    groups.set(key, group);
  }
  for (const { ranks, share, kinds } of groups.values())
    lines.push(`Not exact in parts of the trace, for ${ranksText(ranks)}: ${kinds.join(", ")}` +
               (share > 0 ? ` (${shareText(share)} of all events).` : "."));
  for (const one of info.declarations) lines.push(`${one.what}: ${ranksText(one.ranks)}.`);
  if (lines.length === 0) lines.push("Calls and parameters are exact for every rank.");
  if (!stats.sent_bytes_complete)
    lines.push("The size of some datatype is not known: bytes are a lower bound.");
  lines.push(`Timeline: ${data.timing_text}.`);
  if (timeClasses)
    lines.push(timesText());
  else if (timesShared)
    lines.push(kTimesShared);
  else if (info.timing === "histogram")
    lines.push("Ranks that behaved alike share one distribution of times; its mean is used for each of them.");
  if (data.timeline?.unmatched > 0)
    lines.push(`${countText(data.timeline.unmatched)} receives or collectives are unmatched.`);
  if (data.left_out) lines.push(`${data.left_out}.`);
  return lines;
}

// What the chosen ranks spent, beside the mean of all.
function chosenPart() {
  const { load } = data;
  if (!chosenRanks() || !timed) return [];
  const rows = [["computing", "compute"], ["in MPI", "in_call"], ["waiting at markers", "waiting"], ["in the tool", "tool"]]
    .map(([name, part]) => {
      const all = load[part], list = all.map((ns, i) => ({ ns, rank: load.rank[i] })).filter((one) => takesRank(one.rank));
      const mean = (values) => values.reduce((a, b) => a + b, 0) / Math.max(values.length, 1);
      const most = list.reduce((a, b) => (b.ns > a.ns ? b : a), { ns: -1, rank: 0 });
      return { name, mean: mean(list.map((one) => one.ns)), most, all: mean(all) };
    });
  return [make("h2", {}, "The chosen ranks"),
    table("Time of a rank", [
      { title: "time", value: (row) => row.name },
      { title: "mean of the chosen", number: true, value: (row) => row.mean, text: (row) => timeText(row.mean) },
      { title: "longest of them", number: true, value: (row) => row.most.ns, text: (row) => (row.most.ns > 0 ? `${timeText(row.most.ns)}, rank ${row.most.rank}` : "") },
      { title: "mean of all", number: true, value: (row) => row.all, text: (row) => timeText(row.all) }], rows)];
}

export function overview() {
  const { info, stats } = data;
  const row = (name, value) => [make("dt", {}, name), make("dd", {}, value)];
  const hosts = info.hosts.map((host) => `${host.name} (${ranksText(host.ranks)})`);
  return [
    make("div", { class: "cards" },
      card("Ranks", countText(info.ranks), `${countText(info.hosts.length || 1)} ${info.hosts.length > 1 ? "hosts" : "host"}`),
      timed ? card("Run time", timeText(runNs()), info.run_seconds > 0 ? "MPI_Init to MPI_Finalize" : "from the events") : null,
      card("MPI calls", countText(stats.events), `${countText(info.call_paths)} call paths`),
      card("Sent", bytesAtLeast(stats.sent_bytes), data.matrix ? `${countText(data.matrix.messages)} messages` : null),
      card("Trace", bytesText(stats.bytes), `${(stats.bytes / Math.max(stats.events, 1)).toPrecision(2)} bytes a call`),
      card("Tool", info.run_seconds > 0 ? shareText(info.tool_share) : "not recorded", "of the run, kept out of all times"),
      card("Exact", info.inexact.length + info.declarations.length === 0 ? "yes" : "in part",
           info.fidelity ? `fidelity ${info.fidelity}` : null)),
    filterNote(". All other parts of this view are of the whole run."),
    ...chosenPart(),
    make("h2", {}, "What stands out"),
    make("ul", { class: "findings" }, findings().map((words) => make("li", {}, ...words))),
    timed ? note("Computing before a call is the time since the MPI call before it, whatever functions ran.") : null,
    make("div", { class: "columns" },
      make("section", {}, make("h2", {}, "What ran"),
        make("dl", {},
          row("Program", info.program || "not known"),
          ...(info.facts?.run?.command_line ? [row("Command", info.facts.run.command_line)] : []),
          row("Started", info.started ? new Date(info.started * 1000).toISOString().replace(".000", "") : "not known"),
          row("Finished", info.complete ? "yes" : "no"),
          row("Hosts", hosts.length ? hosts.join(", ") : "not known"),
          row("MPI", info.mpi || "not known"),
          row("Tracer", `Chameleon ${info.version}, timing ${info.timing}`),
          row("Clustering", info.clustering ? `${info.clustering}, K = ${info.k}, fidelity ${info.fidelity}` : "none"),
          ...(info.signature_format !== undefined && info.clusters.length
            ? [row("Signatures", `${info.signature_format || "none: all ranks were alike"} (${info.algorithm})`)] : []),
          ...(info.clustering_seconds !== undefined
            ? [row("Clustering took", `${timeText(1e9 * info.clustering_seconds)} summed over ranks, ${bytesText(info.clustering_bytes)}`),
               row("Merging took", `${timeText(1e9 * info.merging_seconds)} summed over ranks, ${bytesText(info.merge_bytes)}`)] : []),
          ...(info.rules ? [row("Rules", `${countText(info.rules.matched)} of ${countText(info.rules.values)} values agree with the rules`)] : []),
          ...(info.filter ? [row("Filter", info.filter === "on" ? "on: only kinds of values in which ranks differ were sent" : "off")] : []),
          row("Markers", `${countText(info.markers)}, acted on ${countText(info.acted)}`),
          row("Traced ranks", info.traced_ranks))),
      make("section", {}, make("h2", {}, "What is exact"),
        make("ul", {}, exactness().map((line) => make("li", {}, line))))),
    parseRanks(info.traced_ranks).length < info.ranks
      ? note("Not all ranks of the job are in the trace.") : null,
  ].filter(Boolean);
}
