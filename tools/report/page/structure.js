// SPDX-License-Identifier: BSD-3-Clause
// The program as loops of calls. Rows are made when the loop around them is opened.
import { data, kindOf, longestText, placeLink, timed } from "./data.js";
import { make, note, push, tick } from "./dom.js";
import { filterNote, takesAny } from "./filter.js";
import { bytesText, countText, listNote, listText, timeText } from "./text.js";
import { groupVariants } from "./variants.js";

const kOpenAtFirst = 80;  // rows

function bar(node, whole) {
  const percent = (ns) => (whole > 0 ? (100 * ns) / whole : 0);
  return make("div", { class: "stack", role: "img",
    "aria-label": `computing ${percent(node.compute).toFixed(1)} %, in calls ${percent(node.in_call).toFixed(1)} % of all time` },
    make("span", { style: `width:${percent(node.compute)}%;background:var(--compute)` }),
    make("span", { style: `width:${percent(node.in_call)}%;background:var(--wait)` }));
}

function titleOf(node) {
  if (node.variants)
    return [make("strong", { class: "loop" }, `${countText(node.variants)} variants`), ` of ${node.words}`];
  if (node.variant) return [make("span", { class: "note" }, `variant ${node.variant}: `), node.words];
  if (node.loop !== undefined)
    return [make("strong", { class: "loop" }, `loop ${node.loop} ×`)];
  return [make("span", { class: "dot", style: `background:var(--${kindOf(node.call)})`, "aria-hidden": "true" }),
          make("strong", {}, node.call), ` ${node.line ?? ""}`];
}

// Between ranges a line may end, not within one.
function unbroken(ranks) {
  return listText(ranks).split(" ").flatMap((part) =>
    [make("span", { class: "unbroken" }, part), " "]);
}

export function structureView() {
  // Of the whole place: a node may be one of several there.
  const longest = new Map(data.paths.map((row) => [`${row.site} ${row.call}`, row.compute_longest]));
  const whole = data.stats.compute_seconds * 1e9 + data.stats.call_seconds * 1e9;
  const body = make("tbody");
  const rows = [];  // {element, node, level, open, parent}
  const visible = () => rows.filter((row) => !row.element.hidden);
  const show = (row) => {
    row.children ??= (() => {
      const children = row.node.body.map((node) => rowOf(node, row.level + 1, row));
      const place = rows.indexOf(row) + 1;
      rows.splice(place, 0, ...children);
      row.element.after(...children.map((child) => child.element));
      return children;
    })();
    for (const child of row.children) {
      child.element.hidden = !row.open;
      if (child.children) {
        if (!row.open) hide(child);
        else show(child);
      }
    }
  };
  const hide = (row) => {
    for (const child of row.children ?? []) {
      child.element.hidden = true;
      hide(child);
    }
  };
  const setOpen = (row, open) => {
    row.open = open;
    row.button.setAttribute("aria-expanded", String(open));
    row.element.setAttribute("aria-expanded", String(open));
    row.button.textContent = open ? "▾" : "▸";
    show(row);
  };
  const rowOf = (node, level, parent) => {
    const row = { node, level, open: false, parent };
    if (node.body)
      row.button = make("button", { type: "button", class: "fold", "aria-expanded": "false",
        "aria-label": node.variants ? `${node.variants} variants of ${node.words}` : node.variant ? `variant ${node.variant}` : `loop ${node.loop}`, onclick: () => setOpen(row, !row.open) }, "▸");
    // Only what differs from the line around it is worth reading; the dialog says all.
    const around = parent ? parent.node.ranks : data.info.traced_ranks;
    const ranks = node.ranks === around ? (parent ? "" : "all") : node.ranks;
    const slowest = longestText(longest.get(`${node.site} ${node.call}`));
    row.element = make("tr", { tabindex: "-1", "aria-level": level + 1,
                               "aria-expanded": node.body ? "false" : undefined },
      make("th", { scope: "row", class: "node" },
        make("div", { style: `padding-left:${1.3 * level + (node.body ? 0 : 1.5)}em` },
          row.button ?? null, ...titleOf(node),
          node.inexact ? make("em", { class: "inexact" }, ` not exact: ${node.inexact}`) : null)),
      make("td", { class: "wrap" }, node.site !== undefined ? placeLink(node.site, node.ranks)
        : typeof node.place === "number" ? placeLink(node.place, node.ranks) : node.place ?? ""),
      make("td", { class: "wrap ranks" }, ranks === "all" ? ranks : unbroken(ranks)),
      make("td", { class: "number" }, countText(node.count)),
      make("td", { class: "number" }, timed ? timeText(node.compute) : "",
        slowest ? make("div", { class: "note" }, slowest) : null),
      make("td", { class: "number" }, timed ? timeText(node.in_call) : ""),
      make("td", { class: "number" }, node.sent > 0 ? bytesText(node.sent) : ""),
      make("td", { class: "stackcell" }, timed ? bar(node, whole) : ""));
    row.element.addEventListener("focus", () => {
      for (const other of rows) other.element.tabIndex = -1;
      row.element.tabIndex = 0;
    });
    return row;
  };
  body.addEventListener("keydown", (event) => {
    const row = rows.find((one) => one.element === event.target);
    if (!row) return;
    const list = visible(), at = list.indexOf(row);
    let next = null;
    if (event.key === "ArrowDown") next = list[at + 1];
    else if (event.key === "ArrowUp") next = list[at - 1];
    else if (event.key === "Home") next = list[0];
    else if (event.key === "End") next = list[list.length - 1];
    else if (event.key === "ArrowRight" && row.node.body && !row.open) setOpen(row, true);
    else if (event.key === "ArrowLeft" && row.open) setOpen(row, false);
    else if (event.key === "ArrowLeft") next = row.parent;
    else if (event.key === "Enter") (row.element.querySelector(".place") ?? row.button)?.click();
    else return;
    event.preventDefault();
    next?.element.focus();
  });
  const taken = (nodes) => nodes.filter((node) => takesAny(node.ranks))
    .map((node) => (node.body ? { ...node, body: taken(node.body) } : node));
  const nodes = taken(data.tree.nodes), grouped = groupVariants(nodes);
  const fill = (list) => {
    rows.splice(0);
    body.replaceChildren();
    for (const node of list) {
      const row = rowOf(node, 0, null);
      rows.push(row);
      body.append(row.element);
    }
    if (rows.length) rows[0].element.tabIndex = 0;
  };
  // Loops are opened while there is room, those with most of the time first.
  const spent = (row) => row.node.compute + row.node.in_call;
  const hottest = (list) => list.reduce((most, row) => (spent(row) > spent(most) ? row : most), list[0]);
  const closed = () => rows.filter((row) => row.node.body && !row.open && !row.tooLong);
  let hot = null;
  const openSome = () => {
    hot = hottest(closed());
    for (let row = hot, many = rows.length; row; row = hottest(closed())) {
      row.tooLong = row !== hot && (row.node.variants || many + row.node.body.length > kOpenAtFirst);
      if (row.tooLong) continue;
      many += row.node.body.length;
      setOpen(row, true);
    }
  };
  fill(grouped);
  openSome();
  const has = (list) => list.some((node) => node.variants || (node.body && has(node.body)));
  const all = (open) => {
    for (let i = 0; i < rows.length && rows.length < 3000; ++i)
      if (rows[i].node.body && rows[i].open !== open) setOpen(rows[i], open);
  };
  const heads = ["what", "place", "ranks", "calls", "computing before", "in calls", "sent", "share of all time"];
  return [
    filterNote(". Calls and loops in which they take part; counts and times are those of all ranks that do."),
    make("p", {}, `${countText(data.stats.events)} calls in ${countText(data.stats.nodes)} nodes, times summed over ranks. `,
      "Arrow keys go through the rows and open loops; a place shows its source, call path and ranks."),
    make("div", { class: "controls" }, make("span", { class: "buttons" },
      push("Open all", () => all(true)), push("Close all", () => all(false))),
      has(grouped) ? tick("variants as one row", true, (one) => {
        fill(one ? grouped : nodes);
        openSome();
      }) : null,
      hot && timed && whole > 0 ? push(`Most of the time: ${hot.node.variants ? `variants of ${hot.node.words}` : `loop ${hot.node.loop} ×`}${typeof hot.node.place === "string" ? `, ${hot.node.place}` : ""}, ` +
          `${(100 * spent(hot) / whole).toFixed(0)} %`, () => hot.element.focus()) : null),
    make("div", { class: "table" }, make("table", { class: "tree", role: "treegrid", "aria-label": "Loops and calls" },
      make("thead", {}, make("tr", {}, heads.map((head, i) =>
        make("th", { scope: "col", class: i >= 3 && i <= 6 ? "number" : undefined }, head)))), body)),
    data.tree.left_out > 0 ? note(`${countText(data.tree.left_out)} more nodes are not on this page (chameleon print shows them).`) : null,
    timed ? note("Below computing before are the ranks that compute longest at that place, where they stand out.") : null,
    has(grouped) ? note("Variants are the same calls again, with other parameters or on other ranks: loops that share three quarters of their calls, or rows that repeat.") : null,
    note("Ranks are shown where not all ranks of the enclosing loop take part. -> is a destination, <- a source, +1 one rank up from the caller. ",
         listNote(rows.map((row) => row.node.ranks))),
  ].filter(Boolean);
}
