// The operator's page as a person uses it: by what is visible.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import { eventually, open } from "./browser.mjs";

export const OPERATOR = process.env.EXCHANGE_OPERATOR;
/** The link that the exchange prints at its start. */
export const ADMIN = process.env.EXCHANGE_ADMIN;
/** Names differ between runs against one exchange. */
export const RUN = Date.now().toString(36);

export const adminToken = async () => (await readFile(`${process.env.EXCHANGE_DATA}/operator.token`, "utf8")).trim();

/** A page of its own, signed in with a token; the first admin's by default. */
export async function desk(browser, token, options = {}) {
  const page = await open(browser, options);
  await page.goto(ADMIN);
  await page.getByLabel("Your token").fill(token ?? (await adminToken()));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  return page;
}

/** Opens a view by its link and waits for its content. */
export async function view(page, name) {
  await page.getByRole("navigation", { name: "Operators" }).getByRole("link", { name, exact: true }).click();
  await page.locator(`nav a[aria-current=page]`, { hasText: name }).waitFor();
  await page.locator("main .stack").first().waitFor();
}

/** Fills the fields of an open dialog or form by their labels. */
export async function enter(scope, fields) {
  for (const [label, value] of Object.entries(fields)) {
    const input = scope.getByLabel(label, { exact: false }).first();
    const tag = await input.evaluate((element) => element.tagName);
    if (tag === "SELECT") await input.selectOption({ label: value });
    else await input.fill(value);
  }
}

/** Presses the button of an act, enters its fields, and returns the sentence that the dialog says. */
export async function ask(page, scope, name, fields = {}) {
  await scope.getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await enter(dialog, fields);
  const says = dialog.locator(".says:not(:empty)");
  await says.waitFor();
  return says.textContent();
}

/** Carries out an act; returns its sentence and its result, which stands where the button was. */
export async function act(page, scope, name, fields) {
  const results = () => page.locator(".result").allTextContents();
  const [before] = await results();
  const says = await ask(page, scope, name, fields);
  await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const [result] = await eventually(results, (texts) => texts.length === 1 && texts[0] !== before);
  return { says, result };
}

export const row = (page, text) => page.getByRole("row").filter({ hasText: text });
export const panel = (page, name) => page.getByRole("region", { name });

/** Adds an operator and signs in with the token that is shown once. */
export async function hire(browser, admin, name, role) {
  await view(admin, "Operators");
  await admin.getByRole("button", { name: "Add an operator" }).click();
  const dialog = admin.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Role").selectOption(role);
  await dialog.getByRole("button", { name: "Add an operator" }).click();
  await dialog.waitFor({ state: "detached" });
  const token = await panel(admin, "New token").locator("code").textContent();
  assert.match(token, /^[0-9a-f]{64}$/);
  return desk(browser, token);
}

/** Creates a market by its three steps and leaves its page open. */
export async function create(page, { words, trading = {}, reason = "" }) {
  await view(page, "Markets");
  await page.getByRole("link", { name: "New market" }).click();
  const form = page.locator("main form");
  await enter(form, words);
  await page.getByRole("button", { name: "Next" }).click();
  await form.getByLabel("Taker fee").waitFor();
  await enter(form, trading);
  await page.getByRole("button", { name: "Next" }).click();
  const preview = page.getByRole("article", { name: "Preview of its page" });
  const shown = await preview.innerText();
  if (reason) await form.getByLabel("Reason").fill(reason);
  await page.getByRole("button", { name: "Create the market" }).click();
  await page.getByRole("heading", { level: 1, name: words.Question }).waitFor();
  return shown;
}
