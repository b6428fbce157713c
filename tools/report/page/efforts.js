// SPDX-License-Identifier: BSD-3-Clause
// Load over time: the efforts (computation, or time in calls) of ranks that are alike in each step, and the sampled ranks of a window.
import { data } from "./data.js";
import { asTable, card, make, note, pick, table } from "./dom.js";
import { filterNote, takesRank } from "./filter.js";
import { canvas, heatText, ink } from "./picture.js";
import { markersText } from "./series.js";
import { countText, shareText, timeText } from "./text.js";

const kEffortLeft = 64, kEffortTop = 26, kEffortHigh = 260, kSampledHigh = 14;
const kSlowestTop = 6, kSlowestHigh = 12;

// There may be more numbers than a call takes arguments.
function greatest(numbers) {
  let most = 1e-12;
  for (const number of numbers) most = Math.max(most, number);
  return most;
}

function measuredWindows() {
  return data.efforts.filter((one) => one.gap === "none");
}

// Strata of a window by their efforts, most first, with their place from 0 to 1.
function layers(window) {
  const sum = (stratum) => stratum.mean_seconds.reduce((a, b) => a + b, 0);
  let at = 0;
  return [...window.strata].sort((a, b) => sum(b) - sum(a)).map((stratum) => {
    const from = at;
    at += stratum.ranks / window.ranks;
    return { stratum, from, to: at };
  });
}

// Columns of the picture: every step of every window, and one for a window without.
function columns(windows) {
  return windows.flatMap((window) => {
    const parts = window.steps ? layers(window) : [];
    return window.steps ? window.steps.map((step, i) => ({ window, step, i, parts }))
                        : [{ window, parts }];
  });
}

function tellCell({ window, step, i }, part) {
  if (!step) return `${markersText(window.first, window.last)}: given up (${window.gap})`;
  const over = `all ${countText(window.ranks)} ranks: mean ${timeText(step.mean_seconds * 1e9)}, ` +
    `${timeText(step.least_seconds * 1e9)} to ${timeText(step.most_seconds * 1e9)}`;
  if (!part) return `marker ${countText(step.marker)}\n${over}`;
  const { stratum } = part;
  return `marker ${countText(step.marker)}\n${countText(stratum.ranks)} ranks like rank ${stratum.medoid}: ` +
    `mean ${timeText(stratum.mean_seconds[i] * 1e9)}, deviation ${timeText(stratum.deviation_seconds[i] * 1e9)}\n${over}`;
}

function drawScale(context, y, most) {
  for (let i = 0; i < 160; ++i) {
    context.fillStyle = heatText(i / 160);
    context.fillRect(kEffortLeft + i, y, 1.5, 10);
  }
  context.fillStyle = ink("text");
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillText(`0 to ${timeText(most * 1e9)} a step`, kEffortLeft + 168, y + 5);
}

// A pixel is the slowest of its steps, so that a single slow one shows however many there are.
function drawSlowest(context, list, each, most) {
  const pixels = new Float64Array(Math.ceil(each * list.length) + 1);
  list.forEach(({ step }, index) => {
    for (let x = Math.floor(index * each); step && x < (index + 1) * each; ++x)
      pixels[x] = Math.max(pixels[x], step.most_seconds);
  });
  pixels.forEach((seconds, x) => {
    if (!seconds) return;
    context.fillStyle = heatText(seconds / most);
    context.fillRect(kEffortLeft + x, kSlowestTop, 1, kSlowestHigh);
  });
}

// The heat map of strata and steps, below what the slowest rank took in each: where ranks take turns
// at being slow, all are alike over a window. `press(window)` chooses a window.
function effortMap(press) {
  const list = columns(data.efforts);
  const most = greatest(list.map(({ step }) => step?.most_seconds ?? 0));
  let width = 1;
  const at = (x) => list[Math.floor(((x - kEffortLeft) / width) * list.length)];
  const part = (column, y) => column.parts.find(({ from, to }) =>
    y >= kEffortTop + from * kEffortHigh && y < kEffortTop + to * kEffortHigh);
  return canvas({
    label: `The times of ranks that are alike in each of ${countText(list.filter(({ step }) => step).length)} steps; the height of a band is the number of its ranks. The strip above is the slowest rank of each step. Press a window to choose it.`,
    height: () => kEffortTop + kEffortHigh + 44,
    draw: (context, w, h) => {
      width = w - kEffortLeft - 4;
      context.clearRect(0, 0, w, h);
      const each = width / list.length;
      drawSlowest(context, list, each, most);
      list.forEach(({ parts, i }, index) => {
        for (const { stratum, from, to } of parts) {
          context.fillStyle = heatText(stratum.mean_seconds[i] / most);
          context.fillRect(kEffortLeft + index * each, kEffortTop + from * kEffortHigh, each + 0.5,
                           (to - from) * kEffortHigh - 0.5);
        }
      });
      context.fillStyle = ink("text");
      context.textBaseline = "top";
      list.forEach(({ window, i }, index) => {
        if (i) return;
        const x = kEffortLeft + index * each;
        context.fillRect(x, kEffortTop + kEffortHigh, 1, 5);
        if (index === 0 || each * (window.steps?.length ?? 1) > 60)
          context.fillText(countText(window.first), x + 3, kEffortTop + kEffortHigh + 3);
      });
      context.textAlign = "right";
      context.fillText("slowest", kEffortLeft - 6, kSlowestTop);
      context.fillText("ranks", kEffortLeft - 6, kEffortTop);
      drawScale(context, kEffortTop + kEffortHigh + 26, most);
    },
    hover: (x, y) => {
      const column = at(x);
      return column ? tellCell(column, part(column, y)) : "";
    },
    press: (x) => {
      const column = at(x);
      if (column?.step) press(column.window);
    },
  });
}

// The effort of each sampled rank of a window in each step.
function sampledMap(current) {
  const rows = () => layers(current()).flatMap(({ stratum }) =>
    stratum.sampled.filter((sampled) => takesRank(sampled.rank)).map((sampled) => ({ stratum, sampled })));
  let width = 1;
  return canvas({
    label: "The effort of each sampled rank of the chosen window in each step",
    height: () => kEffortTop + rows().length * kSampledHigh + 30,
    draw: (context, w, h) => {
      width = w - kEffortLeft - 4;
      context.clearRect(0, 0, w, h);
      const list = rows(), each = width / current().steps.length;
      const most = greatest(list.flatMap(({ sampled }) => sampled.seconds));
      context.textBaseline = "middle";
      list.forEach(({ stratum, sampled }, row) => {
        const y = kEffortTop + row * kSampledHigh;
        sampled.seconds.forEach((seconds, i) => {
          context.fillStyle = heatText(seconds / most);
          context.fillRect(kEffortLeft + i * each, y, each + 0.5, kSampledHigh - 1);
        });
        context.fillStyle = ink(sampled.rank === stratum.medoid ? "focus" : "text");
        context.textAlign = "right";
        context.fillText(`rank ${sampled.rank}`, kEffortLeft - 6, y + kSampledHigh / 2);
      });
      drawScale(context, kEffortTop + list.length * kSampledHigh + 12, most);
    },
    hover: (x, y) => {
      const row = rows()[Math.floor((y - kEffortTop) / kSampledHigh)];
      const i = Math.floor(((x - kEffortLeft) / width) * current().steps.length);
      const seconds = row?.sampled.seconds[i];
      return seconds === undefined ? ""
        : `rank ${row.sampled.rank}, marker ${countText(current().steps[i].marker)}: ${timeText(seconds * 1e9)}\n` +
          `it stands for ${countText(row.stratum.ranks)} ranks like rank ${row.stratum.medoid}`;
    },
  });
}

const kErrorColumns = [
  { title: "mean", number: true, value: (row) => row.mean_seconds, text: (row) => timeText(row.mean_seconds * 1e9) },
  { title: "estimate", number: true, value: (row) => row.estimate_seconds, text: (row) => timeText(row.estimate_seconds * 1e9) },
  { title: "claimed error", number: true, value: (row) => row.claimed_error_seconds / row.mean_seconds,
    text: (row) => shareText(row.claimed_error_seconds / (row.mean_seconds || 1)) },
  { title: "actual error", number: true, value: (row) => row.actual_error_seconds / row.mean_seconds,
    text: (row) => shareText(row.actual_error_seconds / (row.mean_seconds || 1)) },
  { title: "holds", value: (row) => (row.holds ? "yes" : "no") }];

function windowsTable(list) {
  return table("Windows", [
    { title: "steps", value: (row) => row.first, text: (row) => markersText(row.first, row.last) },
    { title: "ranks", number: true, value: (row) => row.ranks, text: (row) => countText(row.ranks) },
    { title: "sampled", number: true, value: (row) => row.sampled, text: (row) => countText(row.sampled) },
    { title: "strata", value: (row) => row.strata.length, text: (row) => row.strata.map((one) => countText(one.ranks)).join(" + ") },
    ...kErrorColumns], list, { shown: 20 });
}

export function effortsView() {
  const list = measuredWindows();
  const lost = data.efforts.length - list.length;
  if (list.length === 0) return [note("All windows were given up: there is nothing to show.")];
  let chosen = list[0];
  const sampled = sampledMap(() => chosen);
  const steps = make("div");
  const picker = pick("Sampled ranks of", list.map((one, i) => [String(i), markersText(one.first, one.last)]), "0",
    (value) => show(list[Number(value)]));
  const show = (window) => {
    chosen = window;
    picker.querySelector("select").value = String(list.indexOf(window));
    sampled.draw();
    steps.replaceChildren(asTable(() => table("Steps of the window", [
      { title: "marker", number: true, value: (row) => row.marker },
      { title: "most", number: true, value: (row) => row.most_seconds, text: (row) => timeText(row.most_seconds * 1e9) },
      ...kErrorColumns], chosen.steps)));
  };
  const held = list.filter((one) => one.holds).length;
  const total = (of) => list.reduce((sum, one) => sum + of(one), 0);
  const parts = [
    make("div", { class: "cards" },
      card("Windows", countText(list.length), lost ? `${countText(lost)} given up` : `up to ${countText(greatest(list.map((one) => one.steps.length)))} steps each`),
      card("Ranks sampled", shareText(total((one) => one.sampled) / total((one) => one.ranks)), "of all ranks, on average"),
      card("Claimed error holds", `${countText(held)} of ${countText(list.length)}`, "windows")),
    filterNote(". Bands are those of all ranks; below are those of the chosen ranks that were sampled."),
    note(`Measured: ${data.effort_text}. Ranks that are alike form a band, whose height is their number. The strip above the bands is the slowest rank of each step. If the strip is dark where the bands are light, single ranks are slow, or ranks take turns. Sums over all ranks are exact; the sampled ranks represent the others, within the claimed error.`),
    effortMap(show).element,
    asTable(() => windowsTable(list)),
    make("h2", {}, "Sampled ranks"),
    picker, sampled.element, steps,
  ];
  show(list[0]);
  return parts.filter(Boolean);
}
