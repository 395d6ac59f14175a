/** The operator's page: sign in with a named token; offered is what the role may do. */

import { fill, h } from "../lib/dom.js";
import { read, setToken, token } from "./api.js";
import { t } from "./messages.js";
import { VIEWS } from "./views.js";

const main = /** @type {HTMLElement} */ (document.getElementById("admin"));
main.className = "admin";

/**
 * What a view gets.
 * @typedef {object} Desk
 * @property {{ number: number, name: string, role: string, may: string[] }} me
 * @property {(path: string) => boolean} may
 * @property {(text: string, kind?: "done" | "error") => void} say
 * @property {(answer: any) => void} done shows the result of a command and reads the view again
 * @property {() => void} again
 */

function signIn(problem = "") {
  const input = h("input", { type: "password", name: "token", required: true, autocomplete: "off", "aria-label": t("token") });
  const form = h(
    "form.login.panel",
    {
      onsubmit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        setToken(/** @type {HTMLInputElement} */ (input).value.trim());
        start();
      },
    },
    h("h1", null, t("title")),
    h("label", null, h("span", null, t("token")), input),
    h("p.notice-line", { role: "alert", "data-kind": "error" }, problem),
    h("button.primary", { type: "submit" }, t("sign_in")),
  );
  fill(main, form);
  input.focus();
}

function signOut() {
  setToken("");
  signIn();
}

async function start() {
  if (!token()) return signIn();
  let me;
  try {
    me = await read("/me");
  } catch (error) {
    setToken("");
    return signIn(error instanceof Error ? error.message : String(error));
  }
  show(me);
}

/** @param {Desk["me"]} me */
function show(me) {
  const notice = h("p.notice-line", { role: "status" });
  const panel = h("div");
  const shown = VIEWS.filter((view) => view.offered((path) => me.may.includes(path)));
  let current = location.hash.slice(1);
  if (!shown.some((view) => view.key === current)) current = shown[0].key;

  /** @type {Desk} */
  const desk = {
    me,
    may: (path) => me.may.includes(path),
    say: (text, kind = "done") => {
      notice.dataset.kind = kind;
      fill(notice, text);
    },
    done: (answer) => {
      const text = answer?.held ? t("held") : answer?.duplicate ? t("repeated") : t("done", { sequence: answer?.sequence });
      desk.say(text);
      desk.again();
    },
    again: () => open(current),
  };

  const tabs = h(
    "nav.line",
    { "aria-label": t("title") },
    shown.map((view) => h("button.tab", { type: "button", "data-view": view.key, onclick: () => open(view.key) }, t(view.key))),
    h("span.grow"),
    h("span.dim", null, t("signed_in", me)),
    h("button", { type: "button", onclick: () => desk.again() }, t("refresh")),
    h("button", { type: "button", onclick: signOut }, t("sign_out")),
  );

  /** @param {string} key */
  async function open(key) {
    current = key;
    history.replaceState(null, "", `#${key}`);
    for (const tab of tabs.querySelectorAll("[data-view]"))
      tab.setAttribute("aria-selected", String(tab.getAttribute("data-view") === key));
    const view = shown.find((it) => it.key === key);
    try {
      const content = await view?.draw(desk);
      if (current === key) fill(panel, content);
    } catch (error) {
      if (/** @type {any} */ (error).status === 401) return signOut();
      desk.say(error instanceof Error ? error.message : String(error), "error");
    }
  }

  fill(main, tabs, notice, panel);
  open(current);
}

start();
