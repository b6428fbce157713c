// SPDX-License-Identifier: BSD-3-Clause
// What the intervals between markers took, and the slow ones: whose fault they are, and where.
import { data, placeLink } from "./data.js";
import { asTable, make, note, table } from "./dom.js";
import { canvas, ink, legend } from "./picture.js";
import { countText, ranksText, timeText } from "./text.js";

const kBandLeft = 70;  // as the timeline's
const kBandHigh = 90;

export function markersText(first, last) {
  return last > first ? `markers ${countText(first)}–${countText(last)}` : `marker ${countText(first)}`;
}

export function culprit(slow) {
  if (slow.whose === "all") return "no rank alone";
  return slow.whose === "moves" ? `${ranksText(slow.ranks)} in turn` : ranksText(slow.ranks);
}

// Spans as means of a rank and interval in ns, on an axis without the tool's own work.
function steps() {
  let at = 0;
  return data.series.map((span) => {
    const instances = data.info.ranks * span.intervals;
    const mean = (part) => (span[part].sum / instances) * 1e9;
    const step = { span, begin: at, compute: mean("compute"), in_calls: mean("in_calls"), waiting: mean("waiting") };
    step.length = step.compute + step.in_calls + step.waiting;
    at = step.end = at + step.length * span.intervals;
    return step;
  });
}

function tellStep({ span, compute, in_calls, waiting, length }) {
  const most = (part) => `, most ${timeText(span[part].most * 1e9)} on rank ${span[part].most_rank}`;
  return `${markersText(span.first, span.first + span.intervals - 1)}: ${timeText(length)}` +
    (span.intervals > 1 ? " each" : "") +
    `\ncomputing ${timeText(compute)}${most("compute")}\nin MPI ${timeText(in_calls)}${most("in_calls")}` +
    `\nwaiting at the marker ${timeText(waiting)}${most("waiting")}`;
}

// The series over `end` ns, the end of the timeline below it.
export function seriesBand(end) {
  const list = steps();
  if (list.length < 2) return [];
  const inks = { compute: "compute", in_calls: "wait", waiting: "other" };
  const of = (slow) => list.filter(({ span }) => span.first + span.intervals > slow.first && span.first <= slow.last);
  // A few long steps, as the first, are cut off so that the others can be seen.
  const sorted = list.map((step) => step.length).sort((a, b) => a - b);
  const ordinary = 3 * sorted[Math.floor(0.9 * (sorted.length - 1))];
  const slowest = Math.max(0, ...data.slow.flatMap(of).map((step) => step.length));
  const high = Math.min(sorted[sorted.length - 1], Math.max(ordinary, slowest)) || 1;
  const whole = Math.max(end, list[list.length - 1].end);
  let width = 1;
  const x = (ns) => kBandLeft + (ns / whole) * width;
  const picture = canvas({
    label: `Length of ${countText(list.length)} intervals between markers, and what it consists of. Slow ones: ` +
      (data.slow.map((slow) => `${markersText(slow.first, slow.last)}, ${culprit(slow)}`).join("; ") || "none"),
    height: () => 22 + kBandHigh + 4,
    draw: (context, w, h) => {
      width = w - kBandLeft - 8;
      const top = 22;
      context.clearRect(0, 0, w, h);
      for (const step of list) {
        const x0 = x(step.begin), x1 = x(step.end);
        let y = top + kBandHigh;
        for (const [part, name] of Object.entries(inks)) {
          const part_high = Math.min((step[part] / high) * kBandHigh, y - top);
          context.fillStyle = ink(name);
          context.fillRect(x0, y - part_high, Math.max(x1 - x0 - (x1 - x0 > 3 ? 1 : 0), 0.6), part_high);
          y -= part_high;
        }
      }
      // The rank that computes longest, as a line across each step.
      context.fillStyle = ink("text");
      for (const step of list) {
        const most = Math.min(step.span.compute.most * 1e9, step.length);
        if (most > 2 * step.compute && most > high / 50)
          context.fillRect(x(step.begin), top + kBandHigh - Math.min(most / high, 1) * kBandHigh - 1,
                           Math.max(x(step.end) - x(step.begin) - 1, 1), 1.5);
      }
      context.font = "12px system-ui, sans-serif";
      context.textAlign = "left";
      context.textBaseline = "middle";
      let free = 0;
      for (const slow of data.slow) {
        const those = of(slow);
        if (those.length === 0) continue;
        const x0 = x(those[0].begin), x1 = x(those[those.length - 1].end);
        context.fillStyle = ink("focus");
        context.fillRect(x0, top - 4, Math.max(x1 - x0 - 1, 2), 3);
        const text = culprit(slow);
        if (x0 < free) continue;
        context.fillText(text, x0, top - 13);
        free = x0 + context.measureText(text).width + 8;
      }
      context.fillStyle = ink("text");
      context.textAlign = "right";
      context.fillText(timeText(high), kBandLeft - 6, top + 6);
      context.fillText("a step", kBandLeft - 6, top + kBandHigh - 8);
    },
    hover: (px) => {
      const ns = ((px - kBandLeft) / width) * whole;
      const step = list.find((one) => ns >= one.begin && ns <= one.end);
      return step ? tellStep(step) : "";
    },
  });
  return [
    make("h2", {}, "Time steps"),
    legend([["var(--compute)", "computing, mean of the ranks"], ["var(--text)", "the longest of a rank"], ["var(--wait)", "in MPI"],
            ["var(--other)", "waiting at the marker for slower ranks"], ["var(--focus)", "slow steps, and whose fault they are"]]),
    picture.element,
    asTable(() => table("Intervals between markers, means of the ranks", [
      { title: "marker", number: true, value: (row) => row.span.first },
      { title: "intervals", number: true, value: (row) => row.span.intervals, text: (row) => countText(row.span.intervals) },
      { title: "length", number: true, value: (row) => row.length, text: (row) => timeText(row.length) },
      { title: "computing", number: true, value: (row) => row.compute, text: (row) => timeText(row.compute) },
      { title: "longest", number: true, value: (row) => row.span.compute.most, text: (row) => timeText(row.span.compute.most * 1e9) },
      { title: "on rank", number: true, value: (row) => row.span.compute.most_rank },
      { title: "in MPI", number: true, value: (row) => row.in_calls, text: (row) => timeText(row.in_calls) },
      { title: "waiting", number: true, value: (row) => row.waiting, text: (row) => timeText(row.waiting) },
    ], list)),
  ];
}

function placeCell(place) {
  return place ? make("span", {}, `${place.call} at `, placeLink(place.site), `, ${timeText(place.seconds * 1e9)} in the run`) : "";
}

export function slowTable() {
  if (data.slow.length === 0)
    return data.series.length > 0 ? [note("No time steps stand out as slow.")] : [];
  return [
    table("Slow steps", [
      { title: "steps", value: (row) => row.first, text: (row) => markersText(row.first, row.last) },
      { title: "whose fault", value: culprit },
      { title: "lost", number: true, value: (row) => row.lost_seconds, text: (row) => timeText(row.lost_seconds * 1e9) },
      { title: "computes longer before", value: (row) => row.computes?.call ?? "", text: (row) => placeCell(row.computes), class: "wrap" },
      { title: "waits longest in", value: (row) => row.waits?.call ?? "", text: (row) => placeCell(row.waits), class: "wrap" },
    ], data.slow, { shown: 20 }),
    note("Lost is what a rank waited for the slow one, on average, or by how much the steps were longer than others. The places follow from sums over the run."),
  ];
}

// A sentence for the overview.
export function slowWords(slow) {
  const lost = timeText(slow.lost_seconds * 1e9), compute = timeText(slow.compute_seconds * 1e9);
  const steps_ = markersText(slow.first, slow.last);
  const before = slow.computes ? [` before ${slow.computes.call} at `, placeLink(slow.computes.site)] : [];
  if (slow.whose === "all")
    return [`At ${steps_} every rank took ${lost} longer than in other steps`, ...(slow.computes ? [": it computed longer", ...before] : []), "."];
  return [`At ${steps_} ${culprit(slow)} computed longest, ${compute}`, ...before, `. The others lost ${lost}.`];
}
