// SPDX-License-Identifier: BSD-3-Clause
// How large messages are, and how long calls take.
import { data, timed } from "./data.js";
import { asTable, choice, make, note, pick, table } from "./dom.js";
import { filterNote } from "./filter.js";
import { chart } from "./picture.js";
import { bytesText, countText, shareText, timeText } from "./text.js";

function sizePart() {
  const { sizes } = data;
  if (!sizes || sizes.sizes.length === 0) return [note(data.left_out ?? "No messages were sent.")];
  const classes = new Map();
  for (const [size, count] of sizes.sizes) {
    const low = size > 0 ? 2 ** Math.floor(Math.log2(size)) : 0;
    const one = classes.get(low) ?? { low, messages: 0, bytes: 0 };
    one.messages += count;
    one.bytes += size * count;
    classes.set(low, one);
  }
  const rows = [...classes.values()].sort((a, b) => a.low - b.low);
  // Powers of two between the smallest and the largest, gaps included; 0 bytes come first.
  const power = (low) => (low > 0 ? Math.log2(low) : -1);
  const first = power(rows[0].low), last = power(rows[rows.length - 1].low);
  const x = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const values = (key) => x.map((at) => rows.find((row) => power(row.low) === at)?.[key] ?? null);
  const word = (at) => (at % 1 !== 0 ? "" : at < 0 ? "0 B" : bytesText(2 ** at));
  const padded = [first - 1, ...x, last + 1];
  const bars = (key) => [null, ...values(key), null];
  return [
    chart({ label: "Messages by size", x: padded, xText: word, yText: countText, height: 220, xLabel: "size, from", xSplits: x,
            series: [{ label: "messages", colour: "send", values: bars("messages"), bars: true }] }),
    chart({ label: "Bytes in messages by size", x: padded, xText: word, yText: bytesText, yBinary: true, height: 220, xLabel: "size, from", xSplits: x,
            series: [{ label: "bytes", colour: "collective", values: bars("bytes"), bars: true }] }),
    asTable(() => table(sizes.exact ? "Sizes of messages" : "Sizes of messages, from powers of two", [
      { title: "size", number: true, value: (row) => row[0], text: (row) => `${countText(row[0])} B` },
      { title: "messages", number: true, value: (row) => row[1], text: (row) => countText(row[1]) },
    ], sizes.sizes)),
  ];
}

// Bins as steps; what lies between bins in use is nothing.
function stepsOf(bins) {
  const x = [], values = [];
  let before = null;
  for (const [low, high, count] of bins) {
    const from = Math.max(low, 0.5);
    if (before === null) {
      x.push(from * 0.9999);
      values.push(0);
    } else if (low > before) {
      x.push(before, low);
      values.push(0, 0);
    }
    x.push(from * 1.0001, Math.max(high, 0.6) * 0.9999);
    values.push(count, count);
    before = high;
  }
  if (before !== null) {
    x.push(before * 1.0001);
    values.push(0);
  }
  return { x, values };
}

function timePart() {
  if (!timed || data.times.length === 0) return [note("No distributions of times were recorded.")];
  const ordered = [...data.times].sort((a, b) =>
    b.in_call.mean * b.in_call.count - a.in_call.mean * a.in_call.count);
  let call = ordered[0].call, what = "in_call";
  const words = make("p", { "aria-live": "polite" }), numbers = make("div");
  const picture = chart({ label: "", x: [], series: [], xText: timeText, yText: countText, xLog: true,
                          height: 240, xLabel: "time" });
  const fill = () => {
    const one = ordered.find((entry) => entry.call === call)[what];
    const { x, values } = stepsOf(one.bins);
    words.textContent = `${countText(one.count)} recorded: least ${timeText(one.min)}, median ${timeText(one.median)}, mean ${timeText(one.mean)}, 95 % below ${timeText(one.p95)}, most ${timeText(one.max)}.`;
    picture.update({ label: `Distribution of the time in ${call}`, x,
      series: [{ label: "how often", colour: "wait", values, area: true }] });
    numbers.replaceChildren(asTable(() => table(`Times of ${call}`, [
      { title: "from", number: true, value: (row) => row[0], text: (row) => timeText(row[0]) },
      { title: "to", number: true, value: (row) => row[1], text: (row) => timeText(row[1]) },
      { title: "how often", number: true, value: (row) => row[2], text: (row) => countText(row[2]) },
      { title: "share", number: true, value: (row) => row[2], text: (row) => shareText(row[2] / one.count) },
    ], one.bins)));
  };
  fill();
  return [
    make("div", { class: "controls" },
      pick("Call", ordered.map((entry) => [entry.call, entry.call]), call, (value) => {
        call = value;
        fill();
      }),
      choice("Time", [["in_call", "in the call"], ["compute", "computing before it"]], what, (value) => {
        what = value;
        fill();
      })),
    words, picture, numbers];
}

export function distributionsView() {
  return [filterNote(". The distributions are those of all ranks: the trace has none of single ranks."),
    make("h2", {}, "Sizes of messages"), ...sizePart(),
          make("h2", {}, "Times"), ...timePart()];
}
