// Elements without any markup in texts: names of a trace are only ever textContent.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

// el("p", {class: "quiet"}, "text", otherElement)
function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_NAMESPACE, name), attributes, children);
}

// The classes of a column's cells: text or number, short (never wraps), wide (gone on small
// screens).
function columnClass({text, short, wide}) {
  return [text && "text", short && "short", wide && "wide"].filter(Boolean).join(" ") || null;
}

// A number that shows the query behind it when it is chosen. |value| is what the query gives.
function figure(text, sql, value) {
  const button = el("button", {type: "button", class: "figure", title: "Show the SQL"}, text);
  button.dataset.sql = sql;
  button.dataset.value = value;
  return button;
}

// A colour field; colours are set through the object model, which the page's policy allows.
function swatch(part) {
  const node = el("span", {class: "swatch", "aria-hidden": "true"});
  node.style.background = `var(--${part})`;
  return node;
}

function bar(share, part) {
  const node = el("div", {class: "bar", "aria-hidden": "true"});
  node.style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
  if (part) node.style.background = `var(--${part})`;
  return node;
}

// columns: [{name, text: true|false, sort: row => number|string}], cells: row => [cell, …].
// Tables with |sort| can be ordered by their columns.
function table(columns, rows, cells, {tall = false, foot = null, sortBy = null} = {}) {
  const body = el("tbody");
  let order = sortBy;  // {column, descending}
  const draw = () => {
    const sorted = [...rows];
    if (order) {
      const key = columns[order.column].sort;
      const sign = order.descending ? -1 : 1;
      sorted.sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === null || y === null) return (x === null) - (y === null);  // unknown ones last
        return x < y ? -sign : x > y ? sign : 0;
      });
    }
    body.replaceChildren(...sorted.map(
        (row) =>
            el("tr", {},
               cells(row).map((cell, i) => el("td", {class: columnClass(columns[i])}, cell)))));
    heads.forEach((head, i) => {
      if (!columns[i].sort) return;
      const here = order && order.column === i;
      head.setAttribute(
          "aria-sort", here ? (order.descending ? "descending" : "ascending") : "none");
    });
  };
  const heads = columns.map((column, i) => {
    const head = el("th", {class: columnClass(column), scope: "col", title: column.title});
    if (!column.sort) {
      head.append(column.name);
      return head;
    }
    const button = el("button", {type: "button"}, column.name);
    button.addEventListener("click", () => {
      const again = order && order.column === i;
      order = {column: i, descending: again ? !order.descending : !column.text};
      draw();
    });
    head.append(button);
    return head;
  });
  draw();
  return el(
      "div", {class: tall ? "scroll tall" : "scroll"},
      el("table", {}, el("thead", {}, el("tr", {}, heads)), body,
         foot &&
             el("tfoot", {},
                el("tr", {},
                   foot.map((cell, i) => el("td", {class: columnClass(columns[i])}, cell))))));
}

const tooltip = {
  node: null,
  show(event, text) {
    this.node ??= document.getElementById("tooltip");
    this.node.textContent = text;
    this.node.hidden = false;
    const box = this.node.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
    const below = event.clientY + 16 + box.height < window.innerHeight;
    this.node.style.left = `${Math.max(4, left)}px`;
    this.node.style.top = `${below ? event.clientY + 16 : event.clientY - box.height - 10}px`;
  },
  hide() {
    if (this.node) this.node.hidden = true;
  },
  // |text| is called with the event when the pointer moves over |node|.
  on(node, text) {
    node.addEventListener("pointermove", (event) => {
      const shown = text(event);
      if (shown)
        this.show(event, shown);
      else
        this.hide();
    });
    node.addEventListener("pointerleave", () => this.hide());
  },
};
