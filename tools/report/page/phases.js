// SPDX-License-Identifier: BSD-3-Clause
// Acted-on markers and the states they led to, in time or in their order.
import { data } from "./data.js";
import { asTable, choice, make, note, table } from "./dom.js";
import { filterNote, takesAny } from "./filter.js";
import { canvas, ink, legend, ticks } from "./picture.js";
import { countText, ranksText, timeText } from "./text.js";

const kStates = { AT: "all ranks trace", C: "ranks are clustered, leads elected",
                  L: "leads trace", F: "the end" };
const kStateInks = { AT: "at", C: "c", L: "l", F: "f" };

function spans() {
  let before = 0;
  return data.info.phases.map((phase) => {
    const end = phase.end_seconds * 1e9;
    const last = phase.first + Math.max(phase.markers, 1) - 1;
    const span = { ...phase, last, begin: before, end: Math.max(end, before) };
    before = span.end;
    return span;
  });
}

function markerText(span) {
  return span.last > span.first ? `markers ${countText(span.first)}–${countText(span.last)}`
                                : `marker ${countText(span.first)}`;
}

// At how many markers the chosen ranks had changed.
function changedText() {
  const parts = (data.info.changed ?? []).filter((one) => takesAny(one.ranks))
    .map((one) => `${ranksText(one.ranks)} changed at ${countText(one.markers)} of ${countText(data.info.acted)} acted-on markers`);
  return parts.length > 0 ? parts.join("; ") : "they changed at no marker";
}

export function phasesView() {
  const { info } = data;
  const list = spans();
  if (list.length === 0)
    return [note(info.markers > 0
      ? "The trace does not say which state each marker led to."
      : "The program has no markers, so the traces of all ranks were merged once, in MPI_Finalize.")];
  const inTime = list[list.length - 1].end > 0;
  let axis = inTime ? "time" : "marker", at = -1;
  const left = 12, right = 12, top = 46, band = 64;
  const range = () => (axis === "time" ? [0, list[list.length - 1].end]
                                       : [list[0].first - 0.5, list[list.length - 1].last + 0.5]);
  const ends = (span) => (axis === "time" ? [span.begin, span.end]
                                          : [span.first - 0.5, span.last + 0.5]);
  let width = 0;
  const x = (value) => {
    const [low, high] = range();
    return left + ((value - low) / Math.max(high - low, 1e-9)) * (width - left - right);
  };
  const find = (px) => list.findIndex((span) => {
    const [from, to] = ends(span);
    return px >= x(from) && px <= Math.max(x(to), x(from) + 2);
  });
  const tell = (i) => {
    const span = list[i];
    return `${span.state} (${kStates[span.state] ?? ""})\n${markerText(span)}` +
           `\n${countText(span.changed)} ranks had changed at the first` +
           (inTime ? `\n${timeText(span.begin)} to ${timeText(span.end)}` : "");
  };
  const words = make("p", { class: "told", "aria-live": "polite" });
  const move = (step) => {
    at = Math.min(Math.max(at + step, 0), list.length - 1);
    words.textContent = tell(at).replaceAll("\n", ", ");
    picture.draw();
  };
  const picture = canvas({
    label: `States of ${countText(info.acted)} acted-on markers: ${info.count_at} AT, ${info.count_c} C, ${info.count_l} L. Arrow keys go from run to run.`,
    height: () => top + band + 74,
    draw: (context, w, h) => {
      width = w;
      context.clearRect(0, 0, w, h);
      list.forEach((span, i) => {
        const [from, to] = ends(span);
        const x0 = x(from), x1 = Math.max(x(to), x0 + 1.5);
        context.fillStyle = ink(kStateInks[span.state] ?? "other");
        context.fillRect(x0, top, x1 - x0, band);
        // One line a marker, as far as lines can be told apart; not through the words.
        const step = (x1 - x0) / Math.max(span.markers, 1);
        if (span.markers > 1 && step >= 4) {
          context.fillStyle = ink("panel");
          for (let n = 1; n < span.markers; ++n) {
            const where = x0 + n * step;
            if (x1 - x0 <= 26 || Math.abs(where - (x0 + x1) / 2) > 22) {
              context.fillRect(where, top, 1, band);
            } else {
              context.fillRect(where, top, 1, 10);
              context.fillRect(where, top + 50, 1, band - 50);
            }
          }
        }
        if (x1 - x0 > 26) {
          context.fillStyle = ink("onstate");
          context.font = "bold 13px system-ui, sans-serif";
          context.textAlign = "center";
          context.fillText(span.state, (x0 + x1) / 2, top + 26);
          context.font = "12px system-ui, sans-serif";
          const text = `${countText(span.markers)}`;
          if (x1 - x0 > 50) context.fillText(text, (x0 + x1) / 2, top + 44);
        }
        if (span.state === "C") {
          const middle = (x0 + x1) / 2;
          context.fillStyle = ink("text");
          context.beginPath();
          context.moveTo(middle, top - 4);
          context.lineTo(middle - 6, top - 14);
          context.lineTo(middle + 6, top - 14);
          context.fill();
        }
        if (span.changed > 0) {
          const high = 28 * (span.changed / info.ranks);
          context.fillStyle = ink("link");
          context.fillRect(x0, top + band + 4 + 28 - high, Math.max(3, Math.min(8, x1 - x0)), high);
        }
        if (i === at) {
          context.strokeStyle = ink("text");
          context.lineWidth = 2;
          context.strokeRect(x0, top, x1 - x0, band);
        }
      });
      context.fillStyle = ink("text");
      context.textAlign = "left";
      context.fillText("▼ leads elected", left, 16);
      context.strokeStyle = ink("line");
      const [low, high] = range();
      context.textAlign = "center";
      for (const value of ticks(low, high, Math.max(3, w / 130))) {
        if (axis === "marker" && (value < list[0].first || value % 1 !== 0)) continue;
        context.fillRect(x(value), top + band + 36, 1, 6);
        const text = axis === "time" ? timeText(value) : countText(value);
        context.fillText(text, Math.min(Math.max(x(value), 24), w - 30), top + band + 58);
      }
    },
    hover: (px, py) => {
      const i = py >= top && py <= top + band + 32 ? find(px) : -1;
      return i < 0 ? "" : tell(i);
    },
    keys: { ArrowRight: () => move(1), ArrowLeft: () => move(-1), Home: () => move(-1e9),
            End: () => move(1e9) },
  });
  return [
    make("p", {}, `${countText(info.markers)} markers, of which ${countText(info.acted)} were acted on: `
      + `#AT ${countText(info.count_at)}, #C ${countText(info.count_c)}, #L ${countText(info.count_l)}; `
      + `${countText(info.count_flush)} flushes, leads elected ${countText(info.clusterings)} ${info.clusterings === 1 ? "time" : "times"}.`),
    filterNote(`: ${changedText()}. States are those of all ranks, which go through them together.`),
    make("div", { class: "controls" },
      inTime ? choice("Axis", [["time", "time"], ["marker", "markers"]], axis, (value) => {
        axis = value;
        picture.draw();
      }) : null),
    legend(Object.entries(kStates).map(([state, text]) =>
      [`var(--${kStateInks[state]})`, `${state}: ${text}`])
      .concat([["var(--link)", "ranks that had changed (of all)"]])),
    picture.element, words,
    note("A run of markers that led to the same state is one block; the markers within it are drawn evenly. Time is rank 0's clock."),
    asTable(() => table("Runs of markers", [
      { title: "state", value: (span) => span.state },
      { title: "markers", number: true, value: (span) => span.first, text: markerText },
      { title: "how many", number: true, value: (span) => span.markers, text: (span) => countText(span.markers) },
      { title: "ranks changed", number: true, value: (span) => span.changed, text: (span) => countText(span.changed) },
      { title: "until", number: true, value: (span) => span.end, text: (span) => timeText(span.end) },
    ], list)),
  ].filter(Boolean);
}
