/** The button that switches between light and dark. */

import { fill, h, icon } from "../lib/dom.js";
import { t } from "../lib/messages.js";
import { save, set } from "../lib/store.js";

const theme = () => document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const sign = () => icon(theme() === "dark" ? "sun" : "moon");

export function themeButton() {
  const button = h("button.plain.square", { type: "button", "aria-label": t("theme"), title: t("theme"), onclick: change }, sign());
  function change() {
    const next = theme() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    save("theme", next);
    fill(button, sign());
    set("theme", next);
  }
  return button;
}
