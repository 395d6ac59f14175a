/** Tabs with arrow keys, as the ARIA practices describe them. */

import { fill, h, setText } from "../lib/dom.js";

let ids = 0;

/**
 * @param {string} label
 * @param {{ key: string, label: string }[]} tabs
 * @param {(key: string) => void} select
 * @returns {{ bar: HTMLElement, panel: HTMLElement, choose: (key: string) => void, rename: (key: string, label: string) => void }}
 */
export function tabList(label, tabs, select) {
  ids += 1;
  const id = `tabs${ids}`;
  const panel = h("div.tab-panel", { role: "tabpanel", id: `${id}-panel`, tabindex: "0" });
  const buttons = tabs.map((tab) =>
    h(
      "button.tab",
      { type: "button", role: "tab", id: `${id}-${tab.key}`, "aria-controls": `${id}-panel`, onclick: () => choose(tab.key) },
      tab.label,
    ),
  );
  const bar = h("div.tabs", { role: "tablist", "aria-label": label, onkeydown: move }, buttons);

  /** @param {string} key */
  function choose(key) {
    tabs.forEach((tab, i) => {
      buttons[i].setAttribute("aria-selected", String(tab.key === key));
      buttons[i].tabIndex = tab.key === key ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `${id}-${key}`);
    fill(panel);
    select(key);
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const now = buttons.findIndex((button) => button.tabIndex === 0);
    const next = (now + step + buttons.length) % buttons.length;
    choose(tabs[next].key);
    buttons[next].focus();
  }

  return {
    bar,
    panel,
    choose,
    rename: (key, text) => {
      buttons[tabs.findIndex((tab) => tab.key === key)].textContent = text;
    },
  };
}

/**
 * One of a few choices: a radio group that looks like a switch.
 * @param {string} label
 * @param {{ key: string, label: string, class?: string }[]} choices
 * @param {string} chosen
 * @param {(key: string) => void} change
 */
export function segmented(label, choices, chosen, change) {
  ids += 1;
  const name = `choice${ids}`;
  const group = h(
    "fieldset.segmented",
    null,
    h("legend.hidden", null, label),
    choices.map((choice) =>
      h(
        "label",
        { class: choice.class },
        h("input", { type: "radio", name, value: choice.key, checked: choice.key === chosen, onchange: () => change(choice.key) }),
        h("span", null, choice.label),
      ),
    ),
  );
  return group;
}

/**
 * @param {HTMLElement} group of {@link segmented}
 * @param {string} key
 */
const choiceOf = (group, key) => /** @type {HTMLInputElement} */ (group.querySelector(`input[value="${key}"]`));

/**
 * @param {HTMLElement} group of {@link segmented}
 * @param {string} key
 */
export function pick(group, key) {
  choiceOf(group, key).checked = true;
}

/**
 * @param {HTMLElement} group of {@link segmented}
 * @param {string} key
 * @param {string} label
 */
export function relabel(group, key, label) {
  setText(/** @type {Element} */ (choiceOf(group, key).nextElementSibling), label);
}
