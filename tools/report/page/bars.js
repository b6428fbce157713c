// SPDX-License-Identifier: BSD-3-Clause
// What each rank spent, as stacked bars: in order of ranks, of computing time, or by cluster. The rank
// that computes longest is named.
import { data } from "./data.js";
import { choice, make, note } from "./dom.js";
import { takesRank } from "./filter.js";
import { canvas, clusterColour, ink, legend, ticks } from "./picture.js";
import { parseRanks, ranksText, timeText } from "./text.js";

const kBarsLeft = 70, kBarsTop = 22, kBarsFoot = 34, kBarsHigh = 210, kLeastBar = 3;
const kBarParts = [["compute", "computing", "compute"], ["in_call", "in MPI", "wait"],
                ["waiting", "waiting at markers", "collective"], ["tool", "in the tool", "other"]];

// Index of the cluster of each rank of the last election; none: behind the others.
function clusterOf() {
  const of = new Map();
  data.info.clusters.forEach((one, i) => parseRanks(one.ranks).forEach((rank) => of.set(rank, i)));
  return of;
}

// Neighbours become one bar where bars would be thinner than kLeastBar pixels: their mean.
function barGroups(rows, width) {
  const size = Math.max(1, Math.ceil((rows.length * kLeastBar) / width));
  const bars = [];
  for (let at = 0; at < rows.length; at += size) {
    const of = rows.slice(at, at + size);
    const bar = { ranks: of.map((row) => row.rank), cluster: of[0].cluster };
    for (const [part] of kBarParts) bar[part] = of.reduce((sum, row) => sum + row[part], 0) / of.length;
    bar.longest = of.reduce((best, row) => (row.compute > best.compute ? row : best), of[0]);
    bars.push(bar);
  }
  return bars;
}

const wholeOf = (bar) => kBarParts.reduce((sum, [part]) => sum + bar[part], 0);

function tellBar(bar) {
  const title = bar.ranks.length > 1 ? `mean of ${bar.ranks.length} ranks from ${bar.ranks[0]} on` : `rank ${bar.ranks[0]}`;
  return [title, ...kBarParts.filter(([part]) => bar[part] > 0).map(([part, name]) => `${name} ${timeText(bar[part])}`)]
    .join("\n");
}

function drawAxis(context, width, most) {
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const at of ticks(0, most, 4)) {
    const y = kBarsTop + kBarsHigh - (at / most) * kBarsHigh;
    context.fillStyle = ink("line");
    context.fillRect(kBarsLeft, y, width, 1);
    context.fillStyle = ink("text");
    context.fillText(at === 0 ? "0" : timeText(at), kBarsLeft - 6, y);
  }
}

function drawNames(context, bars, wide, byCluster) {
  context.textAlign = "center";
  context.textBaseline = "top";
  let free = 0;
  bars.forEach((bar, i) => {
    const x = kBarsLeft + (i + 0.5) * wide;
    if (byCluster && bar.cluster !== undefined) {
      context.fillStyle = clusterColour(bar.cluster);
      context.fillRect(kBarsLeft + i * wide, kBarsTop + kBarsHigh + 3, Math.max(wide - 0.5, 0.5), 4);
    }
    const text = String(bar.ranks[0]), half = context.measureText(text).width / 2;
    if (x - half < free) return;
    context.fillStyle = ink("text");
    context.fillText(text, x, kBarsTop + kBarsHigh + 10);
    free = x + half + 10;
  });
}

// Over the bar of the rank that computes longest, if it stands out.
function drawCulprit(context, bars, wide, most, width) {
  const computing = bars.flatMap((bar) => bar.longest.compute);
  const mean = computing.reduce((a, b) => a + b, 0) / computing.length;
  const at = computing.indexOf(Math.max(...computing));
  if (computing[at] <= 1.05 * mean) return;
  const x = kBarsLeft + (at + 0.5) * wide, y = kBarsTop + kBarsHigh - (wholeOf(bars[at]) / most) * kBarsHigh;
  const text = `rank ${bars[at].longest.rank} computes longest, ${timeText(computing[at])}`;
  const half = context.measureText(text).width / 2;
  context.fillStyle = ink("focus");
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.fillText(text, Math.min(Math.max(x, kBarsLeft + half), kBarsLeft + width - half), Math.max(y - 7, 14));
  context.beginPath();
  context.moveTo(x, Math.max(y - 1, 20));
  context.lineTo(x - 4, Math.max(y - 7, 14));
  context.lineTo(x + 4, Math.max(y - 7, 14));
  context.fill();
}

// rows: {rank, compute, in_call, waiting, tool}, a point of the load each, in order of ranks.
export function rankBars(rows) {
  const clusters = clusterOf();
  const ranked = rows.filter((row) => takesRank(row.rank)).map((row) => ({ ...row, cluster: clusters.get(row.rank) }));
  if (ranked.length === 0) return [note("No bar begins with one of the chosen ranks.")];
  const orders = {
    rank: (a, b) => a.rank - b.rank,
    compute: (a, b) => b.compute - a.compute || a.rank - b.rank,
    cluster: (a, b) => (a.cluster ?? Infinity) - (b.cluster ?? Infinity) || a.rank - b.rank };
  let order = "rank", bars = [], wide = 1, at = -1;
  const told = make("p", { class: "told", "aria-live": "polite" });
  const most = Math.max(...ranked.map(wholeOf), 1);
  const longest = ranked.reduce((best, row) => (row.compute > best.compute ? row : best), ranked[0]);
  const move = (by) => {
    at = Math.min(Math.max(at + by, 0), bars.length - 1);
    told.textContent = tellBar(bars[at]).replaceAll("\n", ", ");
    picture.draw();
  };
  const picture = canvas({
    label: `Time of each rank as stacked bars. Rank ${longest.rank} computes longest, ${timeText(longest.compute)}`,
    height: () => kBarsTop + kBarsHigh + kBarsFoot,
    draw: (context, w, h) => {
      const width = w - kBarsLeft - 10;
      context.clearRect(0, 0, w, h);
      bars = barGroups([...ranked].sort(orders[order]), width);
      wide = width / bars.length;
      drawAxis(context, width, most);
      bars.forEach((bar, i) => {
        let y = kBarsTop + kBarsHigh;
        for (const [part, , name] of kBarParts) {
          const high = (bar[part] / most) * kBarsHigh;
          context.fillStyle = ink(name);
          context.fillRect(kBarsLeft + i * wide, y - high, Math.max(wide - (wide > 4 ? 1 : 0), 0.5), high);
          y -= high;
        }
        if (i !== at) return;
        context.strokeStyle = ink("focus");
        context.lineWidth = 2;
        context.strokeRect(kBarsLeft + i * wide, y, wide, kBarsTop + kBarsHigh - y);
      });
      drawNames(context, bars, wide, order === "cluster");
      drawCulprit(context, bars, wide, most, width);
    },
    hover: (x) => {
      const bar = bars[Math.floor((x - kBarsLeft) / wide)];
      return bar ? tellBar(bar) : "";
    },
    keys: { ArrowRight: () => move(1), ArrowLeft: () => move(-1), Home: () => move(-bars.length),
            End: () => move(bars.length) },
  });
  const ordering = choice("Order", [["rank", "by rank"], ["compute", "longest first"],
    ...(data.info.clusters.length > 1 ? [["cluster", "by cluster"]] : [])], order, (value) => {
    order = value;
    at = -1;
    picture.draw();
  });
  return [make("div", { class: "controls" }, ordering),
          legend(kBarParts.filter(([part]) => rows.some((row) => row[part] > 0)).map(([, name, colour]) => [`var(--${colour})`, name])),
          make("div", { class: "chart bars" }, picture.element), told];
}

export function slowestRank() {
  const rank = data.info.load?.slowest_rank;
  return rank === undefined ? "the rank that computes longest" : ranksText(String(rank));
}
