// SPDX-License-Identifier: BSD-3-Clause
// When ranks were in MPI: all ranks in cells, and some ranks call by call in a part of the run.
import { data, siteText, timeClasses } from "./data.js";
import { asTable, choice, make, note, pick, push, table, tick } from "./dom.js";
import { filterNote, takesRank } from "./filter.js";
import { canvas, ink, kindColour, legend, ticks } from "./picture.js";
import { seriesBand } from "./series.js";
import { countText, timeText } from "./text.js";
import { kKindWords, timeCells } from "./time_cells.js";

const kWaitInks = { late_sender: "send", late_receiver: "receive", late_root: "wait", early_root: "wait",
                    all_to_all: "collective", barrier: "collective", marker: "compute" };
const kLeft = 70;

function unpack(track) {
  const begin = new Float64Array(track.begin.length);
  let at = 0;
  for (let i = 0; i < begin.length; ++i) begin[i] = at += track.begin[i];
  return { ...track, begin };
}

// A track is of a rank, or of one of its threads if it has several.
const laneText = (track) => (track.thread === undefined ? `rank ${track.rank}` : `rank ${track.rank} thread ${track.thread}`);
const lanesWord = (tracks) => (tracks.some((one) => one.thread !== undefined) ? "threads" : "ranks");
const laneName = (track) => (track.thread === undefined ? String(track.rank) : `${track.rank}.${track.thread}`);

// `colours` is "work", "kinds" or "who".
function detailPicture(detail, colours) {
  const known = detail.tracks.map((track, i) => ({ ...unpack(track), i })).filter((track) => takesRank(track.rank));
  const tracks = known, rowOf = new Map(tracks.map((track, row) => [track.i, row]));
  const messages = detail.messages.filter(([sender, , receiver]) => rowOf.has(sender) && rowOf.has(receiver));
  let from = detail.begin, to = Math.max(detail.end, detail.begin + 1), arrows = messages.length < 4000, at = [0, 0];
  let picked = false;
  const top = 8, high = Math.max(11, Math.min(26, Math.floor(620 / Math.max(tracks.length, 1))));
  let width = 1;
  const x = (ns) => kLeft + ((ns - from) / (to - from)) * width;
  const firstFrom = (track, ns) => {
    let low = 0, above = track.begin.length;
    while (low < above) {
      const middle = (low + above) >> 1;
      if (track.begin[middle] + track.length[middle] < ns) low = middle + 1;
      else above = middle;
    }
    return low;
  };
  // Of a call, and of markers before it.
  const waitsText = (track, begin, end) => {
    const sums = new Map();
    for (const [from, length, kind] of track.waits)
      if (from >= begin && from < end) sums.set(kind, (sums.get(kind) ?? 0) + length);
    return [...sums].map(([kind, ns]) => `\nwaits ${timeText(ns)}: ${data.timeline.wait_words[kind]}`).join("");
  };
  const tell = (row, i) => {
    const track = tracks[row];
    return `${laneText(track)}: ${detail.calls[track.call[i]].name}, ${timeText(track.length[i])}` +
      waitsText(track, track.begin[i], track.begin[i] + track.length[i]) +
      `\nfrom ${timeText(track.begin[i])}\n${siteText(track.site[i])}`;
  };
  const told = make("p", { class: "told", "aria-live": "polite" });
  const zoom = (factor, px = kLeft + width / 2) => {
    const centre = from + ((px - kLeft) / width) * (to - from);
    const length = Math.min(Math.max((to - from) * factor, 200), detail.end - detail.begin);
    const share = (centre - from) / (to - from);
    look(centre - share * length, length);
  };
  const look = (begin, length) => {
    from = Math.min(Math.max(begin, detail.begin), detail.end - length);
    to = from + length;
    picture.draw();
  };
  const move = (rows, calls) => {
    const row = Math.min(Math.max(at[0] + rows, 0), tracks.length - 1);
    const track = tracks[row];
    let i = rows ? firstFrom(track, tracks[at[0]].begin[at[1]] ?? 0) : at[1] + (picked ? calls : 0);
    i = Math.min(Math.max(i, 0), track.begin.length - 1);
    if (i < 0) return;
    at = [row, i];
    picked = true;
    told.textContent = tell(row, i).replaceAll("\n", ", ");
    if (track.begin[i] < from || track.begin[i] > to) look(track.begin[i] - (to - from) / 2, to - from);
    else picture.draw();
  };
  const picture = canvas({
    label: `Calls of ${tracks.length} ${lanesWord(tracks)} from ${timeText(detail.begin)} to ${timeText(detail.end)}. Arrow keys go from call to call and rank to rank, plus and minus zoom, 0 shows all.`,
    height: () => top + tracks.length * high + 30,
    draw: (context, w, h) => {
      width = w - kLeft - 8;
      context.clearRect(0, 0, w, h);
      const who = colours() === "who", work = colours() === "work";
      const inks = detail.calls.map((call) => (who ? ink("line") : kindColour(call.kind)));
      const waitInks = data.timeline.wait_keys.map((key) => ink(who ? kWaitInks[key] : "idle"));
      const base = ink(work ? "compute" : "computefaint");
      context.save();
      context.beginPath();
      context.rect(kLeft, top, width, tracks.length * high);
      context.clip();
      const names = [];
      tracks.forEach((track, row) => {
        const y = top + row * high;
        // Before MPI_Init and after MPI_Finalize nothing is known.
        context.fillStyle = base;
        context.fillRect(x(track.first), y + 1, x(track.last) - x(track.first), high - 2);
        let last = -1;
        for (let i = firstFrom(track, from); i < track.begin.length && track.begin[i] <= to; ++i) {
          const x0 = x(track.begin[i]), x1 = x(track.begin[i] + track.length[i]);
          if (x1 - x0 < 0.4 && x0 - last < 0.4) continue;  // within what is drawn already
          last = x1;
          context.fillStyle = inks[track.call[i]];
          context.fillRect(x0, y + 1, Math.max(x1 - x0, 0.6), high - 2);
          if (picked && row === at[0] && i === at[1]) {
            context.strokeStyle = ink("focus");
            context.lineWidth = 3;
            context.strokeRect(x0, y + 1, Math.max(x1 - x0, 2), high - 2);
          }
          const name = detail.calls[track.call[i]].name;
          if (!who && x1 - x0 > 8 * name.length && high >= 14) names.push([name, track, i, Math.max(x0, kLeft) + 4, y + high / 2]);
        }
        if (!who && !work) return;
        for (const [begin, length, kind] of track.waits) {
          if (begin > to) break;
          if (begin + length < from) continue;
          context.fillStyle = waitInks[kind];
          context.fillRect(x(begin), y + 1, Math.max(x(begin + length) - x(begin), 0.6), high - 2);
        }
      });
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.font = "11px system-ui, sans-serif";
      for (const [name, track, i, px, py] of names) {
        const begin = track.begin[i];
        const waits = work && track.waits.some(([since, length]) => since >= begin && since < begin + track.length[i] && length > track.length[i] / 2);
        context.fillStyle = ink(waits ? "text" : "oncall");
        context.fillText(name, px, py);
      }
      if (arrows) {
        context.strokeStyle = ink("text");
        context.lineWidth = 1;
        let drawn = messages.filter(([, sent, , received]) => received >= from && sent <= to);
        const every = Math.ceil(drawn.length / 1500);
        drawn = drawn.filter((_, i) => i % every === 0);
        context.globalAlpha = drawn.length > 300 ? 0.25 : 0.6;
        context.beginPath();
        for (const [sender, sent, receiver, received] of drawn) {
          context.moveTo(x(sent), top + (rowOf.get(sender) + 0.5) * high);
          context.lineTo(x(received), top + (rowOf.get(receiver) + 0.5) * high);
        }
        context.stroke();
        context.globalAlpha = 1;
      }
      context.restore();
      context.font = "12px system-ui, sans-serif";
      context.fillStyle = ink("text");
      context.textBaseline = "middle";
      context.textAlign = "right";
      const every = high < 13 ? 2 : 1;
      tracks.forEach((track, row) => {
        if (row % every === 0) context.fillText(laneName(track), kLeft - 6, top + (row + 0.5) * high);
      });
      context.textAlign = "center";
      // Close together, labels are told from the left edge.
      const near = to - from < from / 50;
      if (near) context.fillText(`${timeText(from)} +`, kLeft - 20, h - 10);
      for (const value of ticks(near ? 0 : from, near ? to - from : to, Math.max(3, w / 140))) {
        const px = x(near ? from + value : value);
        context.fillRect(px, top + tracks.length * high, 1, 5);
        if (!near || px > kLeft + 30) context.fillText(timeText(value), Math.min(px, w - 26), h - 10);
      }
    },
    hover: (px, py) => {
      const row = Math.floor((py - top) / high);
      if (row < 0 || row >= tracks.length || px < kLeft) return "";
      const track = tracks[row], ns = from + ((px - kLeft) / width) * (to - from);
      const i = firstFrom(track, ns);
      if (i < track.begin.length && track.begin[i] <= ns) return tell(row, i);
      if (ns < track.first || ns > track.last) return `${laneText(track)}: ${ns < track.first ? "before MPI_Init" : "after MPI_Finalize"}`;
      return `${laneText(track)}: computing`;
    },
    press: (px, py) => {
      const row = Math.floor((py - top) / high);
      if (row < 0 || row >= tracks.length) return;
      at = [row, firstFrom(tracks[row], from + ((px - kLeft) / width) * (to - from))];
      picked = true;
      move(0, 0);
    },
    wheel: (px, py, turn) => zoom(turn > 0 ? 1.4 : 1 / 1.4, px),
    drag: {
      move: () => {},
      end: (fromX, fromY, px) => {
        const a = from + ((Math.min(fromX, px) - kLeft) / width) * (to - from);
        const b = from + ((Math.max(fromX, px) - kLeft) / width) * (to - from);
        look(a, Math.max(b - a, 200));
      },
    },
    keys: { ArrowRight: () => move(0, 1), ArrowLeft: () => move(0, -1), ArrowDown: () => move(1, 0),
            ArrowUp: () => move(-1, 0), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
            0: () => look(detail.begin, detail.end - detail.begin),
            PageDown: () => look(from + (to - from) / 2, to - from),
            PageUp: () => look(from - (to - from) / 2, to - from) },
  });
  const found = new Set(tracks.flatMap((track) => track.waits.map((wait) => wait[2])));
  const key = make("div", { hidden: colours() !== "who" }, legend(data.timeline.wait_keys
    .map((name, kind) => [`var(--${kWaitInks[name]})`, data.timeline.wait_words[kind], kind])
    .filter(([, , kind]) => found.has(kind))));
  let lane = tracks.length > 0 ? laneName(tracks[0]) : "0";
  const calls = make("div");
  const fill = () => {
    const track = tracks.find((one) => laneName(one) === lane);
    const rows = Array.from(track?.begin ?? [], (begin, i) => ({ begin, i }));
    calls.replaceChildren(table(`Calls of ${track ? laneText(track) : "no rank"}`, [
      { title: "begin", number: true, value: (row) => row.begin, text: (row) => timeText(row.begin) },
      { title: "call", value: (row) => detail.calls[track.call[row.i]].name },
      { title: "in call", number: true, value: (row) => track.length[row.i], text: (row) => timeText(track.length[row.i]) },
      { title: "place", value: (row) => siteText(track.site[row.i]) },
    ], rows));
  };
  const recolour = () => {
    key.hidden = colours() !== "who";
    picture.draw();
  };
  const parts = [
    make("div", { class: "controls" },
      make("span", { class: "buttons" }, push("+", () => zoom(0.5), "Zoom in"), push("−", () => zoom(2), "Zoom out"),
        push("◂", () => look(from - (to - from) / 2, to - from), "Earlier"),
        push("▸", () => look(from + (to - from) / 2, to - from), "Later"),
        push("All", () => look(detail.begin, detail.end - detail.begin), "Show all of it")),
      messages.length ? tick("messages", arrows, (value) => {
        arrows = value;
        picture.draw();
      }) : null),
    key, picture.element, told,
    asTable(() => {
      fill();
      return make("div", {}, pick(tracks.some((one) => one.thread !== undefined) ? "Rank.thread" : "Rank", tracks.map((one) => [laneName(one), laneName(one)]), lane, (value) => {
        lane = value;
        fill();
      }), calls);
    }),
  ];
  return { parts, recolour };
}

// Colours of the chosen kind, in words.
function colourKey(colours) {
  const kinds = Object.entries(kKindWords).map(([kind, words]) => [`var(--${kind})`, words]);
  if (colours === "kinds") return legend([...kinds, ["var(--computefaint)", "computing"]]);
  return legend([["var(--compute)", "computing"], ["var(--idle)", "waiting for other ranks"], ...kinds]);
}

export function timelineView() {
  const { timeline } = data;
  if (!timeline) return [note(data.left_out ?? "No timeline.")];
  const { detail } = timeline;
  let colours = timeline.has_waits ? "work" : "kinds";
  const cells = timeCells(timeline, detail, () => (colours === "who" ? "work" : colours));
  const shown = detail.tracks.filter((track) => takesRank(track.rank)).length;
  const calls = shown > 0 ? detailPicture(detail, () => colours) : null;
  const key = make("div", {}, colourKey(colours));
  const several = data.info.timing === "histogram" && data.series.length > 1;
  return [
    make("p", {}, `The times are ${timeline.text.replace(/^times /, "")}. ` +
      (timeline.moved > 0 ? `${countText(timeline.moved)} calls were moved. ` : "") +
      (timeline.unmatched > 0 ? `${countText(timeline.unmatched)} receives or collectives are unmatched.` : "")),
    filterNote(". The time steps are those of all ranks; below them are the chosen ones."),
    ...seriesBand(timeline.end),
    make("h2", {}, "All ranks"),
    several ? note("Calls have the mean of all steps" + (timeClasses?.some((one) => !/^\d+$/.test(one.ranks)) ? " and of ranks with similar times" : "") +
      ": the band above shows which steps were slow.") : null,
    timeline.has_waits ? make("div", { class: "controls" }, choice("Colours", [["work", "work and waiting"], ["kinds", "kinds of calls"],
      ...(detail.tracks.some((track) => track.waits.length > 0) ? [["who", "who is waited for"]] : [])], colours, (value) => {
      colours = value;
      key.replaceChildren(colourKey(colours));
      cells.draw();
      calls?.recolour();
    })) : null,
    key, ...cells.parts,
    note("Drag a frame in the picture to look closer; a flat one is a stretch of time for all ranks."),
    make("h2", {}, "Call by call" + (shown < data.info.streams ? `: ${countText(shown)} of ${countText(data.info.streams)} ${lanesWord(detail.tracks)}` : "") +
      (detail.whole ? "" : `, ${timeText(detail.begin)} to ${timeText(detail.end)}`)),
    detail.whole ? null : note("The frame above is the part shown here."),
    shown < data.info.ranks ? note("chameleon report --ranks chooses the ranks that are shown here.") : null,
    ...(calls ? calls.parts : [note("None of the chosen ranks is among those shown call by call.")]),
  ].filter(Boolean);
}
