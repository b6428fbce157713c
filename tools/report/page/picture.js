// SPDX-License-Identifier: BSD-3-Clause
// Canvases that follow the width of the page and its colours; charts of series by uPlot.
import { make } from "./dom.js";

const redraws = new Map();  // panel -> functions

let building = null;  // the panel whose parts are being made

export function inPanel(panel, build) {
  building = panel;
  redraws.set(panel, []);
  panel.append(...build().filter(Boolean));
  building = null;
}

// Every picture of a panel is drawn anew: it became visible, or width or colours changed.
export function redraw(panel) {
  for (const draw of redraws.get(panel) ?? []) draw();
}

export function onRedraw(draw) {
  redraws.get(building).push(draw);
}

export function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const kHues = [212, 28, 145, 340, 52, 268, 180, 0, 95, 310, 235, 75];

// `depth`, from 0 to 1: shades of one colour, away from that of text on it.
export function clusterColour(index, depth = 0) {
  const dark = document.documentElement.dataset.shade === "dark";
  const hue = index < kHues.length ? kHues[index] : (index * 137.5) % 360;
  const ring = Math.floor(index / kHues.length) % 3;
  const light = (dark ? 66 + 18 * depth : 40 - 18 * depth) - 8 * ring;
  return `hsl(${hue} ${58 - 12 * ring}% ${light}%)`;
}

const kKindInks = { send: "send", receive: "receive", wait: "wait", collective: "collective",
                    other: "other" };

export function kindColour(kind) {
  return ink(kKindInks[kind] ?? "other");
}

// From nothing to most, 0 to 1: light to dark on light pages, dark to light on dark ones.
const kLight = [[238, 243, 250], [166, 205, 229], [65, 152, 197], [22, 90, 158], [8, 34, 84]];
const kDark = [[34, 40, 51], [30, 78, 121], [35, 132, 168], [94, 196, 170], [244, 241, 165]];

export function heatColour(share) {
  const stops = document.documentElement.dataset.shade === "dark" ? kDark : kLight;
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return stops[low].map((from, i) => Math.round(from + (stops[low + 1][i] - from) * (at - low)));
}

export function heatText(share) {
  return `rgb(${heatColour(share).join(" ")})`;
}

const tip = document.getElementById("tip");

export function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = !text;
  if (!text) return;
  const box = tip.getBoundingClientRect();
  const left = Math.min(x + 14, document.documentElement.clientWidth - box.width - 8);
  const above = y + 18 + box.height > window.innerHeight;
  tip.style.left = `${Math.max(4, left) + window.scrollX}px`;
  tip.style.top = `${(above ? y - box.height - 10 : y + 18) + window.scrollY}px`;
}

// {label, most: pixels wide, height: width => pixels, draw: (context, width, height), hover: (x, y) => text,
//  press: (x, y), drag: {move(x0, y0, x, y), end(x0, y0, x, y)}, keys: {ArrowLeft: f, ...},
//  wheel: (x, y, steps)}
export function canvas(options) {
  const element = make("canvas", { role: "img", "aria-label": options.label,
                                   tabindex: options.keys || options.hover ? "0" : undefined });
  const context = element.getContext("2d");
  const draw = () => {
    const width = Math.min(element.parentElement?.clientWidth ?? 0, options.most ?? Infinity);
    if (width < 10) return;
    const height = options.height(width), ratio = window.devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    element.style.height = `${height}px`;
    element.style.width = `${width}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "12px system-ui, sans-serif";
    options.draw(context, width, height);
  };
  const place = (event) => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let from = null;
  element.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (from && options.drag) options.drag.move(...from, x, y);
    else if (options.hover) showTip(options.hover(x, y) ?? "", event.clientX, event.clientY);
  });
  element.addEventListener("pointerleave", () => showTip(""));
  element.addEventListener("pointerdown", (event) => {
    from = place(event);
    if (options.drag) element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointerup", (event) => {
    if (!from) return;
    const [x, y] = place(event);
    const still = Math.hypot(x - from[0], y - from[1]) < 4;
    if (still) options.press?.(x, y);
    else options.drag?.end(...from, x, y);
    from = null;
  });
  element.addEventListener("pointercancel", () => { from = null; });
  if (options.wheel)
    element.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey && document.activeElement !== element) return;
      event.preventDefault();
      options.wheel(...place(event), Math.sign(event.deltaY));
    }, { passive: false });
  element.addEventListener("keydown", (event) => {
    const act = options.keys?.[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  onRedraw(draw);
  return { element: make("figure", {}, element), canvas: element, draw };
}

// Round numbers for an axis from `low` to `high`, about `wanted` of them.
export function ticks(low, high, wanted) {
  const raw = (high - low) / Math.max(wanted, 1);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const list = [];
  for (let at = Math.ceil(low / step) * step; at <= high * (1 + 1e-9); at += step) list.push(at);
  return list;
}

const kPowersOfTwo = Array.from({ length: 60 }, (_, i) => 2 ** i);

// A chart of series over x, with yBinary at round numbers of KiB or MiB. series: [{label, colour, values, bars}], scales as uPlot has them.
export function chart({ label, height = 260, x, series, xText, yText, xLog = false, yLog = false,
                        xLabel, yLabel, xSplits, yBinary = false }) {
  const holder = make("div", { class: "chart", role: "img", "aria-label": label });
  let plot = null;
  const draw = () => {
    const width = holder.clientWidth;
    if (width < 10) return;
    plot?.destroy();
    const axis = (text, title, size) => ({
      stroke: ink("text"), grid: { stroke: ink("line"), width: 1 },
      ticks: { stroke: ink("line"), width: 1 }, label: title, size,
      values: (self, values) => values.map((value) => (value === null ? "" : text(value))),
    });
    plot = new uPlot({
      width, height,
      scales: { x: { time: false, distr: xLog ? 3 : 1, log: 2 },
                y: { distr: yLog ? 3 : 1, range: yLog ? undefined : (self, low, high) =>
                  [0, high > 0 ? high * 1.05 : 1] } },
      axes: [{ ...axis(xText, xLabel, 42), splits: xSplits ? () => xSplits : undefined },
             { ...axis(yText, yLabel, 70), incrs: yBinary ? kPowersOfTwo : undefined }],
      series: [{ label: xLabel, value: (self, value) => (value === null ? "" : xText(value)) },
        ...series.map((one) => ({
          label: one.label, stroke: ink(one.colour), width: 1.5,
          fill: one.bars || one.area ? `${ink(one.colour)}${one.area ? "55" : ""}` : undefined,
          paths: one.bars ? uPlot.paths.bars({ size: [0.85, 60] }) : undefined,
          points: { show: one.values.length < 80 && !one.bars && !one.area, size: 4 },
          value: (self, value) => (value === null ? "" : yText(value)),
        }))],
    }, [x, ...series.map((one) => one.values)], holder);
  };
  onRedraw(draw);
  // Other numbers in the same place.
  holder.update = (next) => {
    ({ label, x, series } = { label, x, series, ...next });
    holder.setAttribute("aria-label", label);
    draw();
  };
  return holder;
}

export function legend(entries) {
  return make("ul", { class: "legend" }, entries.map(([ink_, text]) =>
    make("li", {}, make("span", { class: "swatch", style: `background:${ink_}` }), text)));
}
