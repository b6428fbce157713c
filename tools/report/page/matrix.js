// SPDX-License-Identifier: BSD-3-Clause
// Who sends how much to whom. Cells too small to be seen are summed into those that can.
import { data } from "./data.js";
import { asTable, choice, make, note, push, table } from "./dom.js";
import { chosenRanks, filterNote, takesRank } from "./filter.js";
import { canvas, heatColour, heatText, ink, ticks } from "./picture.js";
import { bytesText, countText, timeText } from "./text.js";

const kAmounts = { bytes: bytesText, messages: countText, wait: timeText };
const kMostSteps = 360;

function besides({ collectives, not_included: missing }) {
  const notes = Object.entries(missing).map(([call, count]) =>
    note(`Not included: the data that ${countText(count)} × ${call} moves.`));
  if (collectives.calls > 0)
    notes.unshift(note(`${countText(collectives.calls)} collective calls, which sent ${bytesText(collectives.sent_bytes)}, are not included: MPI implementations choose their own messages for collectives.`));
  return notes;
}

export function matrixView() {
  const { matrix, info } = data;
  if (!matrix) return [note(data.left_out ?? "The trace has no messages.")];
  if (matrix.pairs === 0)
    return [note("No rank sent a message to another, point to point."), ...besides(matrix)];
  const together = matrix.ranks_per_cell;
  let amount = "bytes", log = true, grain = "ranks";
  // With chosen ranks only what they send or receive: a cell of several ranks counts if one of them is chosen.
  const takenCell = (cell) => {
    for (let rank = cell * together; rank < (cell + 1) * together; ++rank) if (takesRank(rank)) return true;
    return false;
  };
  const takenOf = (cells) => {
    const at = cells.source.map((_, i) => i).filter((i) => takenCell(cells.source[i]) || takenCell(cells.dest[i]));
    return Object.fromEntries(Object.entries(cells).map(([key, values]) => [key, at.map((i) => values[i])]));
  };
  const ranksCells = chosenRanks() ? takenOf(matrix.cells) : matrix.cells;
  const source = () => (grain === "ranks" ? ranksCells : matrix.clusters);
  const side = () => (grain === "ranks" ? Math.ceil(matrix.ranks / matrix.ranks_per_cell)
                                        : info.clusters.length);
  // What is looked at: `span` cells from (x0, y0) on.
  let x0 = 0, y0 = 0, span = side(), at = null;
  const left = 64, top = 28;
  let edge = 1, steps = 1, sums = new Float64Array(1), most = 0, dragged = null;
  const name = (cell, count = 1) => {
    if (grain === "clusters") return count > 1 ? `clusters ${cell + 1}–${cell + count}` : `cluster ${cell + 1}`;
    const first = cell * together, last = Math.min((cell + count) * together, matrix.ranks) - 1;
    return last > first ? `ranks ${first}–${last}` : `rank ${first}`;
  };
  const gather = () => {
    steps = Math.max(1, Math.min(Math.ceil(span), Math.floor(edge), kMostSteps));
    sums = new Float64Array(steps * steps);
    most = 0;
    const cells = source(), values = cells[amount];
    for (let i = 0; i < values.length; ++i) {
      const column = Math.floor(((cells.dest[i] - x0) / span) * steps);
      const row = Math.floor(((cells.source[i] - y0) / span) * steps);
      if (column < 0 || row < 0 || column >= steps || row >= steps) continue;
      const sum = (sums[row * steps + column] += values[i]);
      if (sum > most) most = sum;
    }
  };
  const shade = (value) => (log ? Math.log1p(value) / Math.log1p(most) : value / most);
  const zoom = (factor, px = left + edge / 2, py = top + edge / 2) => {
    const whole = side();
    const fx = (px - left) / edge, fy = (py - top) / edge;
    const next = Math.min(Math.max(span * factor, Math.min(2, whole)), whole);
    x0 = Math.min(Math.max(x0 + fx * (span - next), 0), whole - next);
    y0 = Math.min(Math.max(y0 + fy * (span - next), 0), whole - next);
    span = next;
    picture.draw();
  };
  const look = (nextX, nextY) => {
    x0 = Math.min(Math.max(nextX, 0), side() - span);
    y0 = Math.min(Math.max(nextY, 0), side() - span);
    picture.draw();
  };
  const reset = () => {
    [x0, y0, span] = [0, 0, side()];
    picture.draw();
  };
  const tell = (px, py) => {
    const column = Math.floor(((px - left) / edge) * steps), row = Math.floor(((py - top) / edge) * steps);
    if (column < 0 || row < 0 || column >= steps || row >= steps) return "";
    const per = span / steps, many = Math.max(1, Math.round(per));
    const from = Math.floor(y0 + row * per), to = Math.floor(x0 + column * per);
    return `from ${name(from, many)}\nto ${name(to, many)}\n${kAmounts[amount](sums[row * steps + column])}`;
  };
  const told = make("p", { class: "told", "aria-live": "polite" });
  const where = () => {
    told.textContent = `Shown: ${name(Math.floor(y0), Math.ceil(span))} to ${name(Math.floor(x0), Math.ceil(span))}; darkest or brightest is ${kAmounts[amount](most)}.`;
  };
  const picture = canvas({
    most: left + 644,
    label: "Communication matrix: rows send, columns receive. Plus and minus zoom, arrow keys move, 0 shows all.",
    height: (w) => Math.min(w - left, 640) + top + 46,
    draw: (context, w, h) => {
      edge = Math.min(w - left - 4, 640);
      gather();
      context.clearRect(0, 0, w, h);
      context.fillStyle = heatText(0);
      context.fillRect(left, top, edge, edge);
      const cell = edge / steps, grid = cell > 8 ? 1 : 0;
      for (let row = 0; row < steps; ++row)
        for (let column = 0; column < steps; ++column) {
          const value = sums[row * steps + column];
          if (value <= 0) continue;
          context.fillStyle = `rgb(${heatColour(0.12 + 0.88 * shade(value)).join(" ")})`;
          const x = left + column * cell, y = top + row * cell;
          context.fillRect(x, y, Math.max(cell - grid, 0.7), Math.max(cell - grid, 0.7));
        }
      context.strokeStyle = ink("line");
      context.lineWidth = 1;
      context.strokeRect(left - 0.5, top - 0.5, edge + 1, edge + 1);
      context.fillStyle = ink("text");
      const label = (cellIndex) => (grain === "clusters" ? String(cellIndex + 1) : String(cellIndex * together));
      for (const value of ticks(0, span, 8).filter((one) => one < span)) {
        const px = ((Math.floor(x0 + value) - x0 + (span <= 40 ? 0.5 : 0)) / span) * edge;
        const py = ((Math.floor(y0 + value) - y0 + (span <= 40 ? 0.5 : 0)) / span) * edge;
        context.textBaseline = "middle";
        context.textAlign = "right";
        if (py >= 0 && py <= edge) context.fillText(label(Math.floor(y0 + value)), left - 6, top + py);
        context.textAlign = "center";
        if (px >= 0 && px <= edge) context.fillText(label(Math.floor(x0 + value)), left + px, top - 10);
      }
      context.save();
      context.translate(12, top + edge / 2);
      context.rotate(-Math.PI / 2);
      context.fillText(grain === "clusters" ? "from cluster" : "from rank", 0, 0);
      context.restore();
      // The scale, under the picture.
      const bar = Math.min(220, edge * 0.4);
      for (let i = 0; i < bar; ++i) {
        context.fillStyle = heatText(i / bar);
        context.fillRect(left + i, top + edge + 14, 1.5, 10);
      }
      context.fillStyle = ink("text");
      context.textAlign = "left";
      context.fillText(`0`, left, top + edge + 36);
      context.textAlign = "right";
      context.fillText(most > 0 ? kAmounts[amount](most) : "nothing", left + bar, top + edge + 36);
      context.fillText(grain === "clusters" ? "to cluster →" : "to rank →", left + edge, top + edge + 20);
      if (dragged) {
        context.strokeStyle = ink("focus");
        context.lineWidth = 2;
        context.strokeRect(dragged[0], dragged[1], dragged[2], dragged[2]);
      }
      where();
    },
    hover: tell,
    wheel: (px, py, turn) => zoom(turn > 0 ? 1.5 : 1 / 1.5, px, py),
    drag: {
      move: (fromX, fromY, px, py) => {
        const length = Math.max(Math.abs(px - fromX), Math.abs(py - fromY));
        dragged = [px < fromX ? fromX - length : fromX, py < fromY ? fromY - length : fromY, length];
        picture.draw();
      },
      end: () => {
        const [bx, by, length] = dragged ?? [0, 0, 0];
        dragged = null;
        if (length > 6) {
          const next = Math.max((length / edge) * span, Math.min(2, side()));
          const nextX = x0 + ((bx - left) / edge) * span, nextY = y0 + ((by - top) / edge) * span;
          span = next;
          look(nextX, nextY);
        } else picture.draw();
      },
    },
    keys: { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: reset,
            ArrowLeft: () => look(x0 - span / 4, y0), ArrowRight: () => look(x0 + span / 4, y0),
            ArrowUp: () => look(x0, y0 - span / 4), ArrowDown: () => look(x0, y0 + span / 4) },
  });
  const pairs = () => {
    const cells = source();
    return cells.source.map((_, i) => ({ from: cells.source[i], to: cells.dest[i],
      bytes: cells.bytes[i], messages: cells.messages[i], wait: cells.wait[i] }))
      .sort((a, b) => b[amount] - a[amount]);
  };
  const tableHolder = make("div"), heaviest = make("div", { class: "beside" });
  const refillTable = () => {
    heaviest.replaceChildren(table("The heaviest pairs", [
      { title: "from", value: (row) => row.from, text: (row) => name(row.from) },
      { title: "to", value: (row) => row.to, text: (row) => name(row.to) },
      { title: amount === "wait" ? "time" : amount, number: true, value: (row) => row[amount],
        text: (row) => kAmounts[amount](row[amount]) },
    ], pairs().slice(0, 15)));
    fillTable();
  };
  const fillTable = () => tableHolder.replaceChildren(asTable(() => table("Pairs, the heaviest first", [
    { title: "from", number: true, value: (row) => row.from, text: (row) => name(row.from) },
    { title: "to", number: true, value: (row) => row.to, text: (row) => name(row.to) },
    { title: "bytes", number: true, value: (row) => row.bytes, text: (row) => bytesText(row.bytes) },
    { title: "messages", number: true, value: (row) => row.messages, text: (row) => countText(row.messages) },
    { title: "receiver's time in the calls", number: true, value: (row) => row.wait, text: (row) => timeText(row.wait) },
  ], pairs())));
  refillTable();
  return [
    make("p", {}, `${countText(matrix.messages)} messages of ${bytesText(matrix.bytes)} between ${countText(matrix.pairs)} pairs of ranks.`),
    filterNote(". Messages that they send or receive; clusters are those of all ranks."),
    make("div", { class: "controls" },
      choice("Amount", [["bytes", "bytes"], ["messages", "messages"], ["wait", "time"]], amount, (value) => {
        amount = value;
        picture.draw();
        refillTable();
      }),
      choice("Scale", [["log", "logarithmic"], ["lin", "linear"]], "log", (value) => {
        log = value === "log";
        picture.draw();
      }),
      matrix.clusters ? choice("Of", [["ranks", "ranks"], ["clusters", "clusters"]], grain, (value) => {
        grain = value;
        reset();
        refillTable();
      }) : null,
      make("span", { class: "buttons" }, push("+", () => zoom(0.5), "Zoom in"), push("−", () => zoom(2), "Zoom out"),
        push("All", reset, "Show all ranks"))),
    make("div", { class: "pair" }, make("div", { class: "grow" }, picture.element, told), heaviest),
    note("Drag a square to zoom into it. Time is what receivers spent in the calls that completed the receives."),
    together > 1 ? note(`There are too many pairs for a page: a cell is ${together} × ${together} ranks.`) : null,
    ...besides(matrix),
    tableHolder,
  ].filter(Boolean);
}
