// SPDX-License-Identifier: BSD-3-Clause
// Ranks that belong together: the matrix of pairs in the order of the dendrogram, and beside it the
// dendrogram, row by row.
import { asTable, make, note, table } from "./dom.js";
import { chosenRanks, takesRank } from "./filter.js";
import { canvas, heatColour, heatText, ink } from "./picture.js";
import { countText } from "./text.js";

const kTree = { left: 48, top: 8, gap: 14, most: 560 };  // px

// 0, 1, 2, 7 as 0–2, 7.
function rangesText(ranks) {
  const parts = [];
  for (const rank of [...ranks].sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last && rank === last[1] + 1) last[1] = rank;
    else parts.push([rank, rank]);
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

const heightText = (height) => (height === null ? "never" : height.toPrecision(3));

// Ranks below each leaf and each branch.
function membersOf({ order, merges }) {
  const members = order.map((rank) => [rank]);
  for (const [a, b] of merges) members.push([...members[a], ...members[b]]);
  return members;
}

// Where branches stand from 0 to 1: heights logarithmic, what never joins at the edge.
function scaleOf(merges) {
  const heights = merges.map((merge) => merge[2]).filter((height) => height > 0);
  const least = Math.min(...heights), most = Math.max(...heights);
  const range = most > least ? Math.log(most / least) : 1;
  return (height) => (height === null ? 1 : height > 0 ? 0.1 + (0.8 * Math.log(height / least)) / range : 0);
}

export function treePicture(tree, amountText) {
  const { order, merges, cells } = tree, items = order.length;
  const members = membersOf(tree), scale = scaleOf(merges);
  const amounts = new Map();
  for (const [a, b, amount] of cells) {
    amounts.set(a * items + b, amount);
    amounts.set(b * items + a, amount);
  }
  const least = Math.min(...cells.map((cell) => cell[2])), most = Math.max(...cells.map((cell) => cell[2]));
  const shade = (amount) => (most > least ? Math.log(amount / least) / Math.log(most / least) : 1);
  let row = 1, edge = items, from = 0, length = 1, joints = [];
  const rowHeight = (w) => Math.min(22, kTree.most / items, (0.6 * (w - kTree.left)) / items);
  const picture = canvas({
    label: `Amounts between ${countText(items)} ranks in the order of the dendrogram, and the dendrogram`,
    most: kTree.left + kTree.most + 420,
    height: (w) => kTree.top + rowHeight(w) * items + 26,
    draw: (context, w) => {
      row = rowHeight(w);
      edge = row * items;
      from = kTree.left + edge + kTree.gap;
      length = w - from - 8;
      context.clearRect(0, 0, w, kTree.top + edge + 26);
      context.fillStyle = heatText(0);
      context.fillRect(kTree.left, kTree.top, edge, edge);
      const grid = row > 8 ? 1 : 0;
      for (const [cell, amount] of amounts) {
        context.fillStyle = `rgb(${heatColour(0.12 + 0.88 * shade(amount)).join(" ")})`;
        context.fillRect(kTree.left + (cell % items) * row, kTree.top + Math.floor(cell / items) * row,
                         Math.max(row - grid, 0.7), Math.max(row - grid, 0.7));
      }
      context.strokeStyle = ink("line");
      context.strokeRect(kTree.left - 0.5, kTree.top - 0.5, edge + 1, edge + 1);
      context.fillStyle = ink("text");
      context.textAlign = "right";
      context.textBaseline = "middle";
      const every = Math.max(1, Math.ceil(13 / row));
      for (let i = 0; i < items; i += every) {
        const strong = chosenRanks() && takesRank(order[i]);
        context.fillStyle = ink(!chosenRanks() || strong ? "text" : "faint");
        context.font = `${strong ? "bold " : ""}12px system-ui, sans-serif`;
        context.fillText(String(order[i]), kTree.left - 6, kTree.top + (i + 0.5) * row);
      }
      context.fillStyle = ink("text");
      context.font = "12px system-ui, sans-serif";
      context.textAlign = "left";
      context.fillText("rank", kTree.left, kTree.top + edge + 14);
      context.fillText("distance at which branches join →", from, kTree.top + edge + 14);
      joints = order.map((_, i) => ({ x: from, y: kTree.top + (i + 0.5) * row }));
      context.strokeStyle = ink("focus");
      context.beginPath();
      for (const [a, b, height] of merges) {
        const one = joints[a], other = joints[b], x = from + length * scale(height);
        context.moveTo(one.x, one.y);
        context.lineTo(x, one.y);
        context.lineTo(x, other.y);
        context.lineTo(other.x, other.y);
        joints.push({ x, y: (one.y + other.y) / 2, low: Math.min(one.y, other.y), high: Math.max(one.y, other.y) });
      }
      context.stroke();
    },
    hover: (x, y) => {
      if (x >= from - kTree.gap / 2) {
        const at = joints.findLastIndex((joint) => joint.low !== undefined && Math.abs(joint.x - x) < 4 &&
                                                   y >= joint.low - 2 && y <= joint.high + 2);
        return at < 0 ? "" : `${members[at].length} ranks: ${rangesText(members[at])}\njoin at ${heightText(merges[at - items][2])}`;
      }
      const column = Math.floor((x - kTree.left) / row), line = Math.floor((y - kTree.top) / row);
      if (column < 0 || line < 0 || column >= items || line >= items) return "";
      if (column === line) return `rank ${order[line]}`;
      return `ranks ${order[line]} and ${order[column]}\n${amountText(amounts.get(line * items + column) ?? 0)}`;
    },
  });
  return [
    note("The darker or brighter a cell, the more there is between two ranks, on a logarithmic scale. Ranks that belong together are squares on the diagonal."),
    make("div", { class: "grow" }, picture.element),
    asTable(() => table("Branches, in the order in which they join", [
      { title: "distance", number: true, value: (line) => line.height ?? Infinity, text: (line) => heightText(line.height) },
      { title: "ranks", number: true, value: (line) => line.ranks.length, text: (line) => countText(line.ranks.length) },
      { title: "these", value: (line) => rangesText(line.ranks), class: "wrap" },
    ], merges.map(([, , height], i) => ({ height, ranks: members[items + i] })), { shown: 20 })),
  ];
}
