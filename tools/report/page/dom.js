// SPDX-License-Identifier: BSD-3-Clause
// Elements, tables, and controls that a keyboard and a screen reader can use.

// make("p", {class: "x", onclick: f}, "text", child, ...)
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const kFirstRows = 100, kSearched = 10;

// What a reader can look for in a row: the text of its cells.
function rowText(columns, row) {
  return columns.map((column) => {
    const cell = (column.text ?? column.value)(row) ?? "";
    return cell instanceof Node ? cell.textContent : String(cell);
  }).join(" ").toLowerCase();
}

// columns: {title, value: row => what is sorted by, text: row => text or element, number: bool}
export function table(caption, columns, rows, { shown = kFirstRows } = {}) {
  let order = rows, sorted = -1, down = true, limit = shown, wanted = "";
  const found = make("span", { class: "note", role: "status" });
  const body = make("tbody");
  const more = make("button", { type: "button", class: "more", onclick: () => {
    limit *= 10;
    fill();
  } });
  const fill = () => {
    const list = wanted ? order.filter((row) => rowText(columns, row).includes(wanted)) : order;
    found.textContent = wanted ? `${list.length.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")} rows` : "";
    body.replaceChildren(...list.slice(0, limit).map((row) =>
      make("tr", {}, columns.map((column, i) =>
        make(i === 0 ? "th" : "td", { class: column.number ? "number" : column.class,
                                      scope: i === 0 ? "row" : undefined },
             (column.text ?? column.value)(row) ?? "")))));
    more.hidden = list.length <= limit;
    more.textContent = `Show more of the ${list.length.toLocaleString("en-US")} rows`;
  };
  const heads = columns.map((column, i) => {
    if (!column.value) return make("th", { scope: "col" }, column.title);
    const head = make("th", { scope: "col", class: column.number ? "number" : undefined });
    head.append(make("button", { type: "button", class: "sort", onclick: () => {
      down = sorted === i ? !down : Boolean(column.number);
      sorted = i;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      order = [...rows].sort((a, b) => {
        const x = column.value(a), y = column.value(b);
        const sign = typeof x === "number" ? x - y : String(x).localeCompare(String(y));
        return down ? -sign : sign;
      });
      fill();
    } }, column.title));
    return head;
  });
  fill();
  const search = rows.length <= kSearched ? null : make("div", { class: "search" },
    make("input", { type: "search", placeholder: "Search these rows", "aria-label": `Search: ${caption}`,
      oninput: (event) => {
        wanted = event.target.value.trim().toLowerCase();
        fill();
      } }), " ", found);
  return make("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption },
              search,
              make("table", {}, make("caption", {}, caption),
                   make("thead", {}, make("tr", {}, heads)), body),
              more);
}

// What a picture shows, in numbers; made when it is opened.
export function asTable(build) {
  const details = make("details", { class: "astable" }, make("summary", {}, "As a table"));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(build());
  });
  return details;
}

let names = 0;

// Radio buttons in a row. choices: [[value, text], ...]
export function choice(label, choices, chosen, change) {
  const name = `choice${++names}`;
  return make("fieldset", { class: "choice" }, make("legend", {}, label),
    choices.map(([value, text]) => {
      const input = make("input", { type: "radio", name, value, checked: value === chosen,
                                    onchange: () => change(value) });
      return make("label", {}, input, make("span", {}, text));
    }));
}

export function pick(label, choices, chosen, change) {
  const id = `pick${++names}`;
  const select = make("select", { id, onchange: () => change(select.value) },
    choices.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
  return make("span", { class: "pick" }, make("label", { for: id }, label), select);
}

export function tick(label, checked, change) {
  const input = make("input", { type: "checkbox", checked, onchange: () => change(input.checked) });
  return make("label", { class: "tick" }, input, label);
}

export function push(label, press, description) {
  return make("button", { type: "button", onclick: press, "aria-label": description ?? label,
                          title: description }, label);
}

export function note(...words) {
  return make("p", { class: "note" }, ...words);
}

export function card(title, value, detail) {
  return make("div", { class: "card" }, make("div", { class: "cardtitle" }, title),
              make("div", { class: "cardvalue" }, value),
              detail ? make("div", { class: "carddetail" }, detail) : null);
}
