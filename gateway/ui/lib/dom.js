/** Builds elements. Foreign text only ever becomes text nodes and attribute values. */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @param {Element} element
 * @param {Record<string, unknown>} properties
 */
function assign(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (name === "vars") {
      for (const [key, text] of Object.entries(/** @type {Record<string, string>} */ (value))) {
        /** @type {HTMLElement} */ (element).style.setProperty(`--${key}`, text);
      }
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {string} tag name, with optional classes: "div.row.wide"
 * @param {Record<string, unknown> | null} [properties] attributes, `on…` listeners, `vars` (CSS variables)
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, properties, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  if (properties) assign(element, properties);
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(/** @type {Node} */ (child));
  }
  return element;
}

/**
 * @param {string} tag
 * @param {Record<string, unknown> | null} [properties]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function s(tag, properties, ...children) {
  const element = document.createElementNS(SVG, tag);
  if (properties) assign(element, properties);
  element.append(...children);
  return /** @type {SVGElement} */ (element);
}

/**
 * Replaces the children of an element.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const kept = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(.../** @type {Node[]} */ (kept));
}

/**
 * Sets a text only when it differs: an untouched node costs no layout.
 * @param {Element} element
 * @param {string} value
 */
export function setText(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

/** Paths of the icons, drawn in a 24 px square. */
const ICONS = {
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 20 20",
  markets: "M4 19V9M10 19V5M16 19v-7M21 19H3",
  portfolio: "M4 8h16v11H4zM9 8V5h6v3M4 13h16",
  engine: "M3 12h4l3-7 4 14 3-7h4",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2",
  moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z",
  close: "M6 6l12 12M18 6 6 18",
  copy: "M9 9h10v11H9zM5 15V4h10",
  wallet: "M4 7h15v12H4zM4 7l12-3v3M15 13h2",
  center: "M12 3v6M12 15v6M3 12h18",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  politics: "M3 10l9-6 9 6zM6 10v8M10 10v8M14 10v8M18 10v8M3 20h18",
  sports: "M7 4h10v5a5 5 0 0 1-10 0zM7 6H4c0 3 1 5 3.5 5M17 6h3c0 3-1 5-3.5 5M12 14v4M8 20h8",
  weather: "M7 18a4 4 0 0 1 0-8 5.5 5.5 0 0 1 10.6-1A4.5 4.5 0 0 1 17 18z",
  science: "M9 3h6M10 3v6L5 18a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M7.5 15h9",
  space: "M12 3c4 3 5 7 4 12H8C7 10 8 6 12 3zM8 12l-3 4 3 1M16 12l3 4-3 1M10 18l2 3 2-3M12 8v2",
  economy: "M4 20V4M4 20h16M8 16l4-5 3 3 5-7",
  topic: "M5 4h14v11h-6l-4 5v-5H5z",
};

/** Topics that have an icon of their own, by words of their labels. @type {[RegExp, keyof typeof ICONS][]} */
const TOPICS = [
  [/politic|election/i, "politics"],
  [/sport|football|league|cup/i, "sports"],
  [/weather|climate/i, "weather"],
  [/space/i, "space"],
  [/econom|financ|crypto|business|money/i, "economy"],
  [/science|tech/i, "science"],
];

/** @param {string[]} tags */
export function topicIcon(tags) {
  const [, name] = TOPICS.find(([pattern]) => tags.some((tag) => pattern.test(tag))) ?? [null, /** @type {const} */ ("topic")];
  return h(`span.topic.${name}`, { "aria-hidden": "true" }, icon(name));
}

/**
 * @param {keyof typeof ICONS} name
 * @returns {SVGElement}
 */
export function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, s("path", { d: ICONS[name] }));
}

/**
 * Runs a function at most once a frame, however often it is asked for.
 * @param {() => void} draw
 */
export function frame(draw) {
  let pending = 0;
  return () => {
    if (pending) return;
    pending = requestAnimationFrame(() => {
      pending = 0;
      draw();
    });
  };
}

/**
 * A column of a table. `cell` makes the content, or the whole `td`; `csv` the plain value of an exported file. The
 * label is also read beside the value where rows are cards.
 * @template T
 * @typedef {{ label: string, class?: string, content?: Child[], cell: (row: T) => Child | Child[], csv?: (row: T) => string | number }} Column
 */

/**
 * @template T
 * @param {Column<T>[]} columns
 * @param {T[]} rows
 * @param {string} caption read by screen readers
 */
export function table(columns, rows, caption) {
  const head = columns.map((column) => h("th", { scope: "col", class: column.class }, column.content ?? column.label));
  const body = rows.map((row) =>
    h(
      "tr",
      null,
      columns.map((column) => {
        const content = column.cell(row);
        const whole = content instanceof HTMLTableCellElement ? content : h("td", { class: column.class }, content);
        whole.dataset.label = column.label;
        return whole;
      }),
    ),
  );
  return h("table", null, h("caption.hidden", null, caption), h("thead", null, h("tr", null, head)), h("tbody", null, body));
}

/**
 * Has the browser save rows as a file of comma-separated values.
 * @template T
 * @param {string} name of the file
 * @param {Column<T>[]} columns
 * @param {T[]} rows
 */
export function saveCsv(name, columns, rows) {
  const shown = columns.filter((column) => column.csv);
  // A text that begins like a formula would be run as one by a spreadsheet.
  const quoted = (/** @type {string | number} */ value) =>
    typeof value === "number" ? String(value) : `"${value.replace(/^(?=[=+@\t\r-])(?!-?[\d.]+$)/, "'").replace(/"/g, '""')}"`;
  const lines = rows.map((row) => shown.map((column) => quoted(column.csv?.(row) ?? "")).join(","));
  const text = [shown.map((column) => quoted(column.label)).join(","), ...lines].join("\r\n");
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url));
}
