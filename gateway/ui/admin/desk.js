/** The frame around the views: sign in, navigation, who one is, results of acts. */

import { fill, h } from "../lib/dom.js";
import { decoded } from "../lib/format.js";
import { get, set } from "../lib/store.js";
import { newest } from "../lib/pages.js";
import { ApiError } from "../lib/rest.js";
import { skeleton } from "../components/states.js";
import { themeButton } from "../components/theme_button.js";
import { TOKEN_PLACE, read, setToken, token } from "./api.js";
import { ask } from "./ask.js";
import { problem } from "./parts.js";
import { VIEWS } from "./views.js";

/** @typedef {import("./types.js").Me} Me */

/**
 * What a view gets.
 * @typedef {object} Desk
 * @property {Me} me
 * @property {(path: string) => boolean} may
 * @property {(key: string, act: import("./ask.js").Act) => HTMLElement | false} button of an act, where the role includes it
 * @property {(key: string, result: string) => void} done shows a result at its key and reads the view again
 * @property {(to: string, key: string, result: string) => void} go shows it in another view
 * @property {(key: string | undefined) => HTMLElement | false} result of the last act, where it was on this key
 * @property {() => void} again reads the view again
 */

/** The element that a page is drawn in. */
const main = /** @type {HTMLElement} */ (document.getElementById("admin"));
const root = /** @type {HTMLElement} */ (document.getElementById("frame"));

const siteName = () => get("site")?.name ?? "Foretell";

const brand = () =>
  h(
    "a.brand",
    { href: "#markets" },
    h("span.logo", { "aria-hidden": "true" }, h("img", { src: "/admin/favicon.svg", alt: "", width: "24", height: "24" })),
    h("span.name", null, siteName()),
    h("span.badge", null, "Operators"),
  );

/** @param {unknown} [error] */
function signIn(error) {
  const input = /** @type {HTMLInputElement} */ (
    h("input", { id: "token", type: "password", name: "token", required: true, autocomplete: "off" })
  );
  const enter = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    setToken(input.value.trim());
    start();
  };
  fill(root, h("header.top", null, brand(), h("span.grow"), themeButton()));
  fill(
    main,
    h(
      "form.login.panel",
      { onsubmit: enter },
      h("h1", null, `Operate ${siteName()}`),
      h("label", { for: "token" }, "Your token"),
      input,
      error ? problem(error) : h("p.dim", null, TOKEN_PLACE),
      h("button.primary", { type: "submit" }, "Sign in"),
    ),
  );
  input.focus();
}

/** @param {unknown} [error] */
function signOut(error) {
  setToken("");
  signIn(error);
}

export async function start() {
  set("site", await read("/site").catch(() => undefined));
  document.title = `${siteName()}: operators`;
  if (!token()) return signIn();
  try {
    show(await read("/me"));
  } catch (error) {
    if (isUnknown(error)) signOut(error);
    else signIn(error);
  }
}

/** @param {string} text */
const resultLine = (text) => h("p.result", { role: "status" }, text);

/** The view and its argument in the address. */
function current() {
  const [name, argument = ""] = location.hash.slice(1).split("/");
  return { view: VIEWS.find((view) => view.name === name) ?? VIEWS[0], argument: decoded(argument) };
}

/** @param {Me} me */
function show(me) {
  /** @type {{ key: string, text: string } | null} */
  let last = null;
  /** @type {{ key: string, text: string } | null} */
  let coming = null;
  /** @type {Desk} */
  const desk = {
    me,
    may: (path) => me.may.includes(path),
    button: (key, act) =>
      me.may.includes(act.path) &&
      h(
        "button",
        { type: "button", class: act.final ? "final" : "", onclick: () => ask(act, (result) => desk.done(key, result)) },
        act.name,
      ),
    done: (key, text) => {
      last = { key, text };
      desk.again();
    },
    go: (to, key, text) => {
      location.hash = to;
      coming = { key, text };
    },
    result: (key) => key !== undefined && last?.key === key && resultLine(last.text),
    again: () => draw(),
  };
  /** An act, a link and a refresh may each read the view again before the other's answers are there. */
  const shown = newest(
    (/** @type {{ view: import("./views.js").View, content: HTMLElement }} */ { view, content }) => {
      // Signed out meanwhile.
      if (!token()) return;
      if (!content.querySelector("h1")) content.prepend(h("h1.hidden", null, view.label));
      // What the act was on may have left the view.
      if (last && !content.querySelector(".result")) content.prepend(resultLine(last.text));
      fill(main, content);
      document.title = `${view.label}: ${siteName()} operators`;
    },
    (error) => (isUnknown(error) ? signOut(error) : fill(main, problem(error))),
  );
  // A link to the view that is shown reads it again.
  const links = VIEWS.filter(({ under }) => !under).map(({ name, label }) =>
    h("a", { href: `#${name}`, "data-view": name, onclick: () => location.hash === `#${name}` && draw() }, label),
  );
  fill(
    root,
    h(
      "header.top",
      null,
      brand(),
      h("span.grow"),
      h("span.who", null, h("strong", null, me.name), h("span.dim", null, ` ${me.role}`)),
      h("button", { type: "button", onclick: () => desk.again() }, "Refresh"),
      themeButton(),
      h("button", { type: "button", onclick: () => leave() }, "Sign out"),
    ),
    h("nav.views", { "aria-label": "Operators" }, links),
  );
  window.onhashchange = () => {
    [last, coming] = [coming, null];
    fill(main, skeleton(6));
    window.scrollTo(0, 0);
    draw();
  };
  fill(main, skeleton(6));
  draw();

  function leave() {
    window.onhashchange = null;
    signOut();
  }

  function draw() {
    const { view, argument } = current();
    for (const link of links) link.setAttribute("aria-current", link.dataset.view === (view.under ?? view.name) ? "page" : "false");
    shown(async () => ({ view, content: await view.draw(desk, argument) }));
  }
}

/**
 * @param {unknown} error
 * @returns whether the exchange does not know the token
 */
const isUnknown = (error) => error instanceof ApiError && error.status === 401;
