// SPDX-License-Identifier: BSD-3-Clause
// Ranks as a map: whom a lead traces for, and what makes the clusters different.
import { data, placeLink, siteText, timed } from "./data.js";
import { asTable, choice, make, note, pick, table } from "./dom.js";
import { filterNote, takesAny, takesRank } from "./filter.js";
import { canvas, clusterColour, heatText, ink, onRedraw } from "./picture.js";
import { countText, listNote, listText, parseRanks, ranksText, timeText } from "./text.js";

const kMostWidths = 60, kMostChips = 60;

// Layouts of the ranks: [columns, rows of a layer, layers].
function layouts() {
  const ranks = data.info.ranks;
  const { dims, source } = data.grid;
  const list = [];
  const why = source === "MPI_Cart_create" ? "as MPI_Cart_create made it"
            : source === "distances" ? "as the distances of partners suggest" : "";
  if (dims.length === 3) list.push({ shape: [dims[2], dims[1], dims[0]], text: `3-D, ${dims.join(" × ")}, ${why}` });
  if (dims.length === 2) list.push({ shape: [dims[1], dims[0], 1], text: `2-D, ${dims.join(" × ")}, ${why}` });
  const line = Math.min(ranks, ranks <= 64 ? ranks : 2 ** Math.ceil(Math.log2(Math.sqrt(ranks)) + 0.5));
  const widths = [];
  for (let width = 2; width < ranks && widths.length < kMostWidths; ++width)
    if (ranks % width === 0) widths.push(width);
  const one = { shape: [line, Math.ceil(ranks / line), 1], text: ranks === line ? "1-D, a line" : `1-D, lines of ${line}` };
  if (list.length === 0) list.push(one);
  else list.push(one);
  for (const width of widths) list.push({ shape: [width, ranks / width, 1], text: `2-D, ${ranks / width} × ${width}` });
  return list;
}

const shortened = (text) => (text.length > 24 ? `${text.slice(0, 24)}…` : text);

function differenceList(index) {
  const { clusters } = data.info;
  const found = data.differences[index];
  const items = [];
  const byPlace = (a, b) =>
    siteText(a.site).localeCompare(siteText(b.site), "en", { numeric: true });
  for (const one of found.only.sort(byPlace))
    items.push(make("li", {}, `calls ${one.call} at `, placeLink(one.site),
      one.clusters === 1 ? ", as no other cluster does"
                         : `, as ${one.clusters} of ${clusters.length} clusters do`));
  for (const one of found.partners.sort(byPlace))
    items.push(make("li", {}, `${one.call} ${one.field} ${one.value} at `, placeLink(one.site)));
  if (found.more > 0) items.push(make("li", {}, `and ${countText(found.more)} more`));
  if (items.length === 0)
    items.push(make("li", {}, "Calls and partners of its ranks do not differ from those of all other ranks: they differed only in the interval in which leads were elected."));
  return make("ul", {}, items);
}

// The signatures that set a cluster apart from the first one of its Call-Path.
function splitText(index) {
  const split = data.info.clusters[index].split_by;
  return split ? `Apart from the first cluster of this Call-Path by ${split.replaceAll(",", ", ")}. ` : "";
}

// What leads did for the tracer, and other ranks, at markers and in MPI_Finalize.
function roleTable() {
  const roles = (data.info.roles ?? []).map((one) => ({ ...one, counted: one.instructions !== undefined }));
  const sum = (seconds) => Object.values(seconds).reduce((all, one) => all + one, 0);
  if (roles.every((one) => sum(one.idle_seconds) === 0 && !one.counted)) return [];
  const time = (title, value) => ({ title, number: true, value, text: (row) => timeText(1e9 * value(row)) });
  const count = (title, value) => ({ title, number: true, value, text: (row) => (row.counted ? countText(Math.round(value(row))) : "not counted") });
  return [
    make("h2", {}, "Working and idle for the tracer"),
    note("Means of a rank, at markers and in MPI_Finalize. An idle rank waits for what other ranks do for the tracer. Leads are those of the last election."),
    table("Working and idle for the tracer", [
      { title: "ranks", value: (row) => (row.role === "lead" ? "leads" : "others") },
      { title: "how many", number: true, value: (row) => row.ranks, text: (row) => countText(row.ranks) },
      time("working", (row) => sum(row.tool_seconds) - sum(row.idle_seconds)),
      time("idle", (row) => sum(row.idle_seconds)),
      ...["AT", "C", "L", "F"].map((state) => time(`idle in ${state}`, (row) => row.idle_seconds[state])),
      ...(roles.some((row) => row.counted) ? [
        count("instructions", (row) => row.instructions ?? 0),
        count("of these for the tracer", (row) => row.tool_instructions ?? 0),
      ] : []),
    ], roles),
  ];
}

export function clustersView() {
  const { clusters, ranks } = data.info;
  const of = new Int32Array(ranks).fill(-1);
  const leads = new Set();
  const paths = [...new Set(clusters.map((one) => one.call_path))];
  clusters.forEach((one, i) => {
    leads.add(one.lead);
    for (const rank of parseRanks(one.ranks)) if (rank < ranks) of[rank] = i;
  });
  const whole = data.load.ranks_per_point === 1;
  const value = { compute: new Map(), in_call: new Map() };
  if (whole)
    data.load.rank.forEach((rank, i) => {
      value.compute.set(rank, data.load.compute[i]);
      value.in_call.set(rank, data.load.in_call[i]);
    });
  // Main clusters have a colour and sub-clusters shades of it; the sub-clusters of a single one have
  // colours of their own.
  const subs = clusters.map((one, i) => clusters.slice(0, i).filter((other) => other.call_path === one.call_path).length);
  const last = paths.map((path) => clusters.filter((one) => one.call_path === path).length - 1);
  const colourOfCluster = (i) => {
    if (paths.length === 1) return clusterColour(i);
    const main = paths.indexOf(clusters[i].call_path);
    return clusterColour(main, last[main] === 0 ? 0 : subs[i] / last[main]);
  };
  const choices = layouts();
  let shape = choices[0].shape, by = clusters.length ? "cluster" : "compute", at = -1, chosen = -1;
  let size = 1, gap = 0, across = 1;
  const measure = (w) => {
    const [columns, rows, layers] = shape;
    gap = layers > 1 ? 14 : 0;
    // Layers stand beside each other, as many as fit.
    let best = 0;
    for (let n = 1; n <= layers; ++n) {
      const down = Math.ceil(layers / n);
      const fit = Math.min((w - (n - 1) * gap) / (n * columns), (620 - down * gap) / (down * rows), 44);
      if (fit >= best) [best, across] = [fit, n];
    }
    size = Math.max(best, 0.5);
    return Math.ceil(layers / across) * (rows * size + gap) + 4;
  };
  const corner = (rank) => {
    const [columns, rows] = shape;
    const layer = Math.floor(rank / (columns * rows)), inside = rank % (columns * rows);
    return [(layer % across) * (columns * size + gap) + (inside % columns) * size,
            Math.floor(layer / across) * (rows * size + gap) + Math.floor(inside / columns) * size];
  };
  const rankAt = (px, py) => {
    const [columns, rows, layers] = shape;
    const lx = Math.floor(px / (columns * size + gap)), ly = Math.floor(py / (rows * size + gap));
    const column = Math.floor((px - lx * (columns * size + gap)) / size);
    const row = Math.floor((py - ly * (rows * size + gap)) / size);
    if (lx < 0 || lx >= across || column < 0 || column >= columns || row < 0 || row >= rows) return -1;
    const rank = (ly * across + lx) * columns * rows + row * columns + column;
    return rank < ranks && ly * across + lx < layers ? rank : -1;
  };
  const tell = (rank) => {
    const cluster = of[rank];
    return `rank ${rank}` + (cluster >= 0 ? `\ncluster ${cluster + 1}, lead ${clusters[cluster].lead}` : "") +
      (leads.has(rank) ? " (this rank)" : "") +
      (timed && whole ? `\ncomputing ${timeText(value.compute.get(rank) ?? 0)}, in MPI ${timeText(value.in_call.get(rank) ?? 0)}` : "");
  };
  const detail = make("section", { "aria-live": "polite" });
  const choose = (index) => {
    chosen = index;
    picture.draw();
    detail.replaceChildren();
    if (index < 0) return;
    detail.append(make("h2", {}, `Cluster ${index + 1}: ${ranksText(clusters[index].ranks)}`),
      make("p", {}, `Lead ${clusters[index].lead}, Call-Path ${clusters[index].call_path}. ${splitText(index)}Calls of its ranks that not all ranks make:`),
      differenceList(index));
  };
  const move = (step) => {
    at = Math.min(Math.max((at < 0 ? 0 : at) + step, 0), ranks - 1);
    told.textContent = tell(at).replaceAll("\n", ", ");
    picture.draw();
  };
  const told = make("p", { class: "told", "aria-live": "polite" });
  const colourOf = (rank, most) =>
    (by === "cluster" ? (of[rank] >= 0 ? colourOfCluster(of[rank]) : ink("line"))
                      : heatText((value[by].get(rank) ?? 0) / most));
  const picture = canvas({
    label: `Map of ${countText(ranks)} ranks in ${countText(clusters.length)} clusters. Arrow keys go from rank to rank, Enter shows its cluster.`,
    height: measure,
    draw: (context, w, h) => {
      context.clearRect(0, 0, w, h);
      const most = by === "cluster" ? 1 : Math.max(1, ...value[by].values());
      const line = size > 5 ? 1 : 0;
      for (let rank = 0; rank < ranks; ++rank) {
        const [x, y] = corner(rank);
        context.globalAlpha = (chosen >= 0 && of[rank] !== chosen) || !takesRank(rank) ? 0.3 : 1;
        context.fillStyle = colourOf(rank, most);
        context.fillRect(x, y, size - line, size - line);
        context.globalAlpha = 1;
        if (leads.has(rank)) {
          context.strokeStyle = ink("text");
          context.lineWidth = Math.max(1.5, Math.min(3, size / 8));
          context.strokeRect(x + 1.5, y + 1.5, Math.max(size - line - 3, 1), Math.max(size - line - 3, 1));
        }
        if (size >= 22) {
          context.fillStyle = by === "cluster" && (chosen < 0 || of[rank] === chosen) && takesRank(rank) ? ink("oncall") : ink("text");
          context.textAlign = "center";
          context.textBaseline = "middle";
          context.font = `${leads.has(rank) ? "bold " : ""}${size >= 34 ? 12 : 10}px system-ui, sans-serif`;
          context.fillText(String(rank), x + size / 2, y + size / 2);
        }
        if (rank === at) {
          context.strokeStyle = ink("focus");
          context.lineWidth = 3;
          context.strokeRect(x, y, size, size);
        }
      }
      context.textBaseline = "alphabetic";
    },
    hover: (px, py) => {
      const rank = rankAt(px, py);
      return rank < 0 ? "" : tell(rank);
    },
    press: (px, py) => {
      const rank = rankAt(px, py);
      choose(rank < 0 || of[rank] === chosen ? -1 : of[rank]);
    },
    keys: { ArrowRight: () => move(1), ArrowLeft: () => move(-1), ArrowDown: () => move(shape[0]),
            ArrowUp: () => move(-shape[0]), Enter: () => choose(at < 0 ? -1 : of[at]),
            Escape: () => choose(-1) },
  });
  const swatches = clusters.slice(0, kMostChips).map(() => make("span", { class: "swatch" }));
  onRedraw(() => swatches.forEach((one, i) => { one.style.background = colourOfCluster(i); }));
  picture.element.classList.add("bare");
  return [
    filterNote(". The map shows all ranks, the others pale; below are the clusters with chosen ranks."),
    clusters.length
      ? make("p", {}, `${countText(clusters.length)} ${clusters.length === 1 ? "cluster" : "clusters"} of ${countText(paths.length)} ${paths.length === 1 ? "Call-Path" : "Call-Paths"}: ranks of a cluster did the same, and its lead traced for it.`)
      : note("No clusters: no marker led to state C, or clustering was off."),
    make("div", { class: "controls" },
      pick("Layout", choices.map((one, i) => [String(i), one.text]), "0", (i) => {
        shape = choices[Number(i)].shape;
        picture.draw();
      }),
      timed && whole ? choice("Colour", [
        ...(clusters.length ? [["cluster", "cluster"]] : []), ["compute", "computing"], ["in_call", "MPI time"]],
        by, (next) => {
          by = next;
          picture.draw();
        }) : null),
    picture.element, told,
    clusters.length
      ? note("Framed: leads. Choose a rank to see what distinguishes its cluster. ",
             listNote(clusters.map((one) => one.ranks))) : null,
    clusters.length ? make("div", { class: "chips" }, clusters.slice(0, kMostChips).map((one, i) => takesAny(one.ranks) &&
      make("button", { type: "button", class: "chip", onclick: () => choose(chosen === i ? -1 : i) },
        swatches[i],
        `${i + 1}: ${shortened(listText(one.ranks))}`)).filter(Boolean)) : null,
    detail,
    clusters.length ? asTable(() => table("Clusters", [
      { title: "cluster", number: true, value: (row) => row.i + 1 },
      { title: "Call-Path", value: (row) => row.call_path },
      { title: "lead", number: true, value: (row) => row.lead },
      ...(clusters.some((one) => one.split_by) ? [{ title: "apart by", value: (row) => row.split_by ?? "" }] : []),
      { title: "how many", number: true, value: (row) => row.size, text: (row) => countText(row.size) },
      { title: "ranks", value: (row) => row.ranks, text: (row) => listText(row.ranks), class: "wrap" },
    ], clusters.map((one, i) => ({ ...one, i, size: parseRanks(one.ranks).length })).filter((row) => takesAny(row.ranks)))) : null,
    ...roleTable(),
  ].filter(Boolean);
}
