// SPDX-License-Identifier: BSD-3-Clause
// All ranks over the whole run: a row is a rank, some ranks, or a class of ranks with like times; a
// cell is what they did in a stretch of time.
import { data } from "./data.js";
import { asTable, choice, make, push, table } from "./dom.js";
import { chosenRanks, takesAny } from "./filter.js";
import { canvas, ink, kindColour, ticks } from "./picture.js";
import { countText, listText, parseRanks, ranksText, shareText, timeText } from "./text.js";

export const kKindNames = ["send", "receive", "wait", "collective", "other"];
export const kKindWords = { send: "sends", receive: "receives", wait: "waits for requests",
                            collective: "collectives", other: "other calls" };
const kCellsLeft = 70, kCellsTop = 8;

function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function rgb(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// Rows of a picture, unpacked and in its order; `only`: those with chosen ranks.
function unpackRows(cells) {
  const parts = { share: bytesOf(cells.share), wait: bytesOf(cells.wait), kind: bytesOf(cells.kind) };
  return cells.ranks.map((ranks, row) => ({
    ranks, begin: cells.begin[row], end: cells.end[row],
    ...Object.fromEntries(Object.entries(parts).map(([key, bytes]) =>
      [key, bytes.subarray(row * cells.columns, (row + 1) * cells.columns)])) }))
    .filter((row) => takesAny(row.ranks));
}

function clusterOrder(rows) {
  const of = new Map();
  data.info.clusters.forEach((one, i) => parseRanks(one.ranks).forEach((rank) => of.set(rank, i)));
  const first = (row) => parseRanks(row.ranks)[0];
  return [...rows].sort((a, b) => (of.get(first(a)) ?? Infinity) - (of.get(first(b)) ?? Infinity) || first(a) - first(b));
}

// Red, green and blue of a cell. In "work" computing, waiting and calls are mixed by their shares.
function cellColour(row, column, mode, inks) {
  const share = row.share[column] / 255, wait = Math.min(row.wait[column] / 255, share);
  const kind = inks.kinds[row.kind[column]];
  if (mode === "kinds") return inks.pale.map((base, c) => base + (kind[c] - base) * share);
  return inks.compute.map((base, c) => base * (1 - share) + inks.idle[c] * wait + kind[c] * (share - wait));
}

// `colours` is "work" or "kinds"; `detail` is the part that is shown call by call.
export function timeCells(timeline, detail, colours) {
  const { overview, classes } = timeline;
  const byRank = unpackRows(overview), byClass = classes.rows > 0 ? unpackRows(classes) : [];
  const single = byRank.every((row) => /^\d+$/.test(row.ranks));
  const orders = { rank: byRank, cluster: single ? clusterOrder(byRank) : byRank, class: byClass };
  let order = byRank.length > 64 && byClass.length > 0 && !chosenRanks() ? "class" : "rank";
  const cells = () => (order === "class" ? classes : overview);
  // What is looked at, in columns and rows.
  let view = null, dragged = null, shown = { width: 1, high: 1 };
  const whole = () => ({ from: 0, to: cells().columns, top: 0, bottom: orders[order].length });
  const part = () => view ?? whole();
  const timeAt = (column) => column * cells().column_ns;
  const nameOf = (row) => (/^\d+$/.test(row.ranks) ? row.ranks : listText(row.ranks).split(",")[0] + (/,/.test(row.ranks) ? "…" : ""));
  const said = make("p", { class: "told", "aria-live": "polite" });
  const look = (next) => {
    const all = whole(), columns = Math.min(Math.max(next.to - next.from, 8), all.to);
    const rows = Math.min(Math.max(Math.round(next.bottom - next.top), 1), all.bottom);
    const from = Math.min(Math.max(next.from, 0), all.to - columns);
    const top = Math.min(Math.max(Math.round(next.top), 0), all.bottom - rows);
    view = columns === all.to && rows === all.bottom ? null : { from, to: from + columns, top, bottom: top + rows };
    said.textContent = view ? `Shown: ${timeText(timeAt(from))} to ${timeText(timeAt(from + columns))}, ${countText(rows)} of ${countText(all.bottom)} rows` : "";
    picture.draw();
  };
  const zoom = (factor, x = 0.5, y = 0.5) => {
    const { from, to, top, bottom } = part();
    const columns = (to - from) * factor, rows = Math.max(1, (bottom - top) * factor);
    const left = from + x * (to - from - columns), first = top + y * (bottom - top - rows);
    look({ from: left, to: left + columns, top: first, bottom: first + rows });
  };
  const shift = (x, y) => {
    const { from, to, top, bottom } = part();
    const across = x * (to - from), down = Math.sign(y) * Math.max(1, Math.round(Math.abs(y) * (bottom - top)));
    look({ from: from + across, to: to + across, top: top + down, bottom: bottom + down });
  };
  const rowAt = (y) => {
    const { top, bottom } = part();
    return orders[order][Math.floor(top + ((y - kCellsTop) / shown.high) * (bottom - top))];
  };
  const columnAt = (x) => {
    const { from, to } = part();
    return Math.floor(from + ((x - kCellsLeft) / shown.width) * (to - from));
  };
  const drawCells = (context, rows, { from, to }) => {
    const left = Math.floor(from), right = Math.min(Math.ceil(to), cells().columns), across = right - left;
    const inks = { pale: rgb(ink("computefaint")), compute: rgb(ink("compute")), idle: rgb(ink("idle")),
                   kinds: kKindNames.map((name) => rgb(kindColour(name))) };
    // One pixel a cell, then stretched. What is before the first call and after the last stays empty.
    const image = new ImageData(across, rows.length);
    rows.forEach((row, y) => {
      for (let column = left; column < right; ++column) {
        if (timeAt(column + 1) <= row.begin || timeAt(column) >= row.end) continue;
        const at = 4 * (y * across + column - left);
        cellColour(row, column, colours(), inks).forEach((value, c) => { image.data[at + c] = value; });
        image.data[at + 3] = 255;
      }
    });
    const small = document.createElement("canvas");
    small.width = across;
    small.height = rows.length;
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, from - left, 0, to - from, rows.length, kCellsLeft, kCellsTop, shown.width, shown.high);
  };
  const picture = canvas({
    label: `What ${countText(data.info.ranks)} ranks did over ${timeText(timeline.end)}. Plus and minus zoom, arrow keys move, 0 shows all.`,
    height: () => kCellsTop + Math.min(Math.max(orders[order].length * 7, 90), 320) + 34,
    draw: (context, w, h) => {
      const { from, to, top, bottom } = part(), rows = orders[order].slice(top, bottom);
      const width = w - kCellsLeft - 8, high = h - 34 - kCellsTop;
      shown = { width, high };
      context.clearRect(0, 0, w, h);
      drawCells(context, rows, { from, to });
      context.strokeStyle = ink("line");
      context.lineWidth = 1;
      context.strokeRect(kCellsLeft - 0.5, kCellsTop - 0.5, width + 1, high + 1);
      context.fillStyle = ink("text");
      context.textBaseline = "middle";
      context.textAlign = "right";
      const step = Math.max(1, Math.ceil(rows.length / Math.max(1, Math.floor(high / 18))));
      for (let row = 0; row < rows.length; row += step)
        context.fillText(nameOf(rows[row]), kCellsLeft - 6, kCellsTop + ((row + 0.5) / rows.length) * high, kCellsLeft - 8);
      context.textAlign = "center";
      const begin = timeAt(from), end = timeAt(to), x = (ns) => kCellsLeft + ((ns - begin) / (end - begin)) * width;
      for (const at of ticks(begin, end, Math.max(3, w / 140)))
        if (at <= end) context.fillText(timeText(at), Math.min(x(at), w - 26), kCellsTop + high + 16);
      context.strokeStyle = ink("focus");
      context.lineWidth = 2;
      if (!detail.whole && detail.begin < end && detail.end > begin) {
        const x0 = Math.max(x(detail.begin), kCellsLeft), x1 = Math.min(x(detail.end), kCellsLeft + width);
        context.strokeRect(x0, kCellsTop, Math.max(2, x1 - x0), high);
      }
      if (dragged) context.strokeRect(...dragged);
      context.lineWidth = 1;
    },
    hover: (x, y) => {
      const column = columnAt(x), row = rowAt(y);
      if (!row || y < kCellsTop || column < 0 || column >= cells().columns || x < kCellsLeft) return "";
      const where = `${ranksText(row.ranks)}, ${timeText(timeAt(column))} to ${timeText(timeAt(column + 1))}\n`;
      if (timeAt(column + 1) <= row.begin) return `${where}before MPI_Init`;
      if (timeAt(column) >= row.end) return `${where}after MPI_Finalize`;
      const share = row.share[column] / 255, wait = row.wait[column] / 255;
      return `${where}${shareText(1 - share)} computing, ${shareText(share)} in MPI or at a marker` +
        (timeline.has_waits ? `,\n${shareText(wait)} waiting for other ranks` : "") +
        (share > 0 ? `; most calls are ${kKindWords[kKindNames[row.kind[column]]]}` : "");
    },
    wheel: (x, y, turn) => zoom(turn > 0 ? 1.5 : 1 / 1.5, (x - kCellsLeft) / shown.width, (y - kCellsTop) / shown.high),
    drag: {
      move: (fromX, fromY, x, y) => {
        dragged = [Math.min(fromX, x), Math.min(fromY, y), Math.abs(x - fromX), Math.abs(y - fromY)];
        picture.draw();
      },
      end: (fromX, fromY, x, y) => {
        dragged = null;
        const { from, to, top, bottom } = part();
        const column = (at) => from + ((Math.max(at, kCellsLeft) - kCellsLeft) / shown.width) * (to - from);
        const row = (at) => top + ((at - kCellsTop) / shown.high) * (bottom - top);
        // A flat frame is a stretch of time for all rows.
        const flat = Math.abs(y - fromY) < 12;
        look({ from: column(Math.min(fromX, x)), to: column(Math.max(fromX, x)),
               top: flat ? top : Math.floor(row(Math.min(fromY, y))), bottom: flat ? bottom : Math.ceil(row(Math.max(fromY, y))) });
      },
    },
    keys: { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => look(whole()),
            ArrowLeft: () => shift(-0.25, 0), ArrowRight: () => shift(0.25, 0),
            ArrowUp: () => shift(0, -0.25), ArrowDown: () => shift(0, 0.25) },
  });
  const sums = () => orders[order].map((row) => {
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / 255 / values.length;
    return { ranks: row.ranks, share: mean(row.share), wait: mean(row.wait) };
  });
  const holder = make("div");
  const fillTable = () => holder.replaceChildren(asTable(() => table("Share of the run", [
    { title: "ranks", value: (row) => Number(row.ranks.match(/^\d+/)[0]), text: (row) => listText(row.ranks), class: "wrap" },
    { title: "in MPI or at a marker", number: true, value: (row) => row.share, text: (row) => shareText(row.share) },
    ...(timeline.has_waits ? [{ title: "waiting", number: true, value: (row) => row.wait, text: (row) => shareText(row.wait) }] : []),
  ], sums())));
  fillTable();
  const several = single && data.info.clusters.length > 1;
  const controls = make("div", { class: "controls" },
    several || byClass.length > 0 ? choice("Rows", [["rank", single ? "ranks" : "groups of ranks"],
      ...(several ? [["cluster", "ranks by cluster"]] : []),
      ...(byClass.length > 0 ? [["class", "ranks that are alike, their mean"]] : [])], order, (value) => {
      order = value;
      view = null;
      said.textContent = "";
      fillTable();
      picture.draw();
    }) : "",
    make("span", { class: "buttons" }, push("+", () => zoom(0.5), "Zoom in on all ranks"), push("−", () => zoom(2), "Zoom out of all ranks"),
      push("All", () => look(whole()), "Show all ranks and the whole run")));
  return { parts: [controls, picture.element, said, holder], draw: picture.draw };
}
