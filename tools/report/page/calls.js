// SPDX-License-Identifier: BSD-3-Clause
// The calls that cost most, as `chameleon stats` counts them.
import { data, longestText, placeLink, share, timed } from "./data.js";
import { make, table } from "./dom.js";
import { filterNote, takesAny } from "./filter.js";
import { bytesText, countText, listText, timeText } from "./text.js";

export function callsView() {
  const { stats } = data;
  const paths = data.paths.filter((row) => takesAny(row.ranks));
  const names = stats.rows.filter((row) => takesAny(row.ranks));
  const longest = (rows) => Math.max(...rows.map((row) => row.call_seconds), 0);
  const columns = (rows) => [
    { title: "count", number: true, value: (row) => row.count, text: (row) => countText(row.count) },
    ...(timed ? [
      { title: "in call, all ranks", number: true, value: (row) => row.call_seconds,
        text: (row) => share(row.call_seconds, longest(rows), timeText(row.call_seconds * 1e9)) },
      { title: "mean", number: true, value: (row) => row.call_seconds / Math.max(row.count, 1),
        text: (row) => timeText((row.call_seconds * 1e9) / Math.max(row.count, 1)) },
      { title: "computing before", number: true, value: (row) => row.compute_seconds,
        text: (row) => timeText(row.compute_seconds * 1e9) }] : []),
    ...(timed && rows === paths ? [
      { title: "longest in call", value: (row) => row.in_call_longest?.most ?? 0, number: true,
        text: (row) => longestText(row.in_call_longest) },
      { title: "longest before", value: (row) => row.compute_longest?.most ?? 0, number: true,
        text: (row) => longestText(row.compute_longest) }] : []),
    { title: "sent", number: true, value: (row) => row.sent_bytes, text: (row) => bytesText(row.sent_bytes) },
    { title: "ranks", value: (row) => row.ranks, text: (row) => listText(row.ranks), class: "wrap" },
  ];
  return [
    make("p", {}, `${countText(stats.events)} calls` + (timed
      ? `; in MPI ${timeText(stats.call_seconds * 1e9)}, between calls ${timeText(stats.compute_seconds * 1e9)}, summed over ranks.` : ".")),
    filterNote(". Calls that they make; counts and times are those of all ranks that make them."),
    make("h2", {}, "By place"),
    table("Calls by place, longest first", [{ title: "place", value: (row) => row.site, text: (row) => placeLink(row.site) },
      { title: "call", value: (row) => row.call }, ...columns(paths)], paths, { shown: 25 }),
    make("h2", {}, "By call"),
    table("Calls by name, longest first", [{ title: "call", value: (row) => row.call }, ...columns(names)], names),
  ].filter(Boolean);
}
