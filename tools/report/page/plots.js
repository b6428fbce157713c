// SPDX-License-Identifier: BSD-3-Clause
// The messages of one pair of ranks: size over time, transfer over size, transfer over time.
import { make, note, pick } from "./dom.js";
import { canvas, ink, legend, ticks } from "./picture.js";
import { bytesText, countText, timeText } from "./text.js";

const kPlot = { left: 66, top: 24, below: 40, high: 200, near: 8 };  // px
const kWayInks = ["receive", "send"];  // by `forth`

// {title, of: column, text, base}: without a base linear from 0, else lines are powers of it.
const kSentAxis = { title: "time in the run", of: "sent", text: timeText };
const kSizeAxis = { title: "size", of: "bytes", text: bytesText, base: 2 };
const kTransferAxis = { title: "send to receive", of: "transfer", text: timeText, base: 10 };

// Where values stand from 0 to 1, and the lines of the grid.
function axisScale(axis, values) {
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  if (!axis.base) {
    const high = most || 1;
    return { at: (value) => value / high, lines: ticks(0, high, 4) };
  }
  const log = (value) => Math.log(value) / Math.log(axis.base);
  const least = values.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), Infinity);
  let low = Math.floor(log(Number.isFinite(least) ? least : 1) + 1e-9);
  let high = Math.ceil(log(most || 1) - 1e-9);
  if (high <= low) [low, high] = [low - 1, low + 1];  // one value: in the middle
  const step = Math.ceil((high - low) / 5), lines = [];
  for (let power = low; power <= high; power += step) lines.push(axis.base ** power);
  return { at: (value) => (value > 0 ? (log(value) - low) / (high - low) : 0), lines };
}

// `shown` gives the pair, which may change between two drawings.
function plot(shown, across, up) {
  let wide = 1, x = null, y = null;
  const place = (pair, i) => [kPlot.left + wide * x.at(pair[across.of][i]),
                              kPlot.top + kPlot.high * (1 - y.at(pair[up.of][i]))];
  return canvas({
    label: `Messages of the pair: ${up.title} over ${across.title}`,
    most: 520,
    height: () => kPlot.top + kPlot.high + kPlot.below,
    draw: (context, w, h) => {
      const pair = shown(), bottom = kPlot.top + kPlot.high;
      [x, y] = [axisScale(across, pair[across.of]), axisScale(up, pair[up.of])];
      wide = w - kPlot.left - 34;
      context.clearRect(0, 0, w, h);
      context.strokeStyle = ink("line");
      context.fillStyle = ink("text");
      context.textBaseline = "middle";
      context.textAlign = "center";
      for (const value of x.lines) {
        const px = kPlot.left + wide * x.at(value);
        context.strokeRect(px, kPlot.top, 0, kPlot.high);
        context.fillText(across.text(value), px, bottom + 12);
      }
      context.fillText(across.title, kPlot.left + wide / 2, bottom + 30);
      context.textAlign = "right";
      for (const value of y.lines) {
        const py = kPlot.top + kPlot.high * (1 - y.at(value));
        context.strokeRect(kPlot.left, py, wide, 0);
        context.fillText(up.text(value), kPlot.left - 6, py);
      }
      context.textAlign = "left";
      context.fillText(up.title, 4, 10);
      context.globalAlpha = 0.6;
      for (let i = 0; i < pair.sent.length; ++i) {
        const [px, py] = place(pair, i);
        context.fillStyle = ink(kWayInks[pair.forth[i]]);
        context.beginPath();
        context.arc(px, py, 2.2, 0, 2 * Math.PI);
        context.fill();
      }
      context.globalAlpha = 1;
    },
    hover: (px, py) => {
      const pair = shown();
      let nearest = -1, least = kPlot.near ** 2;
      for (let i = 0; i < pair.sent.length; ++i) {
        const [ox, oy] = place(pair, i), far = (ox - px) ** 2 + (oy - py) ** 2;
        if (far < least) [nearest, least] = [i, far];
      }
      if (nearest < 0) return "";
      const [from, to] = pair.forth[nearest] ? [pair.a, pair.b] : [pair.b, pair.a];
      return `rank ${from} to ${to}, ${bytesText(pair.bytes[nearest])}\nsent at ${timeText(pair.sent[nearest])}\n${timeText(pair.transfer[nearest])} until received`;
    },
  });
}

export function pairPlots(pairs) {
  if (pairs.length === 0) return [];
  let pair = pairs[0];
  const above = make("div"), shown = () => pair;
  const plots = [[kSentAxis, kSizeAxis], [kSizeAxis, kTransferAxis], [kSentAxis, kTransferAxis]]
    .map(([across, up]) => plot(shown, across, up));
  const show = (next) => {
    pair = next;
    above.replaceChildren(
      legend([["var(--send)", `from rank ${pair.a} to ${pair.b}`], ["var(--receive)", `from rank ${pair.b} to ${pair.a}`]]),
      pair.every > 1 ? note(`Shown: one in ${countText(pair.every)} of its ${countText(pair.messages)} messages.`) : "");
    for (const one of plots) one.draw();
  };
  show(pair);
  return [
    make("h2", {}, "Messages of a pair"),
    pick("Ranks", pairs.map((one, i) => [String(i), `${one.a} and ${one.b}`]), "0", (value) => show(pairs[Number(value)])),
    above,
    make("div", { class: "plots" }, plots.map((one) => make("div", {}, one.element))),
    note("The time from send to receive begins with the send and ends with the call that completes the receive. Sizes and these times are logarithmic. Other pairs: chameleon pairs --pair A,B --svg FILE."),
  ];
}
