// The operator's page: a market from idea to payout by a browser alone, with two persons.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { launch, open } from "./browser.mjs";

const OPERATOR = process.env.EXCHANGE_OPERATOR;
const WALLET = "0xd43988ce15551f73188af5fda7631c6003a1bd96";
/** Names differ between runs against one exchange. */
const RUN = Date.now().toString(36);

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** A page of its own, signed in with a token. */
async function desk(token) {
  const page = await open(browser);
  await page.goto(`${OPERATOR}/admin/`);
  await page.fill("input[name=token]", token);
  await page.click("form.login button");
  await page.waitForSelector("nav [data-view=markets]");
  return page;
}

const view = async (page, key) => {
  await page.click(`nav [data-view=${key}]`);
  await page.waitForSelector(`nav [data-view=${key}][aria-selected=true]`);
};

/** Opens a dialog by its button, fills it and sends it. */
async function command(page, button, fields) {
  await button.click();
  for (const [name, value] of Object.entries(fields)) {
    const field = page.locator(`dialog [name=${name}]`);
    if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption(value);
    else await field.fill(value);
  }
  await page.click("dialog button.primary");
}

/** A command that the exchange accepts: the dialog closes. */
async function done(page, button, fields) {
  await command(page, button, fields);
  await page.waitForSelector("dialog", { state: "detached" });
}

/** A command that it refuses: the dialog stays and names the reason. */
async function refused(page, button, fields) {
  await command(page, button, fields);
  const problem = page.locator("dialog [role=alert]:not(:empty)");
  await problem.waitFor();
  const text = await problem.textContent();
  await page.click("dialog button:not(.primary)");
  return text;
}

const row = (page, text) => page.locator("tr", { hasText: text });
const act = (page, text, name) => row(page, text).getByRole("button", { name, exact: true });

/** Adds an operator and takes the token that is shown once. */
async function hire(page, name, role) {
  await view(page, "people");
  await done(page, page.getByRole("button", { name: "Add an operator" }), { name, role });
  const token = await page.locator(".token").textContent();
  assert.match(token, /^[0-9a-f]{64}$/);
  await view(page, "markets");
  return desk(token);
}

const inDays = (days) => new Date(Date.now() + days * 86_400_000).toISOString();

test("a wrong token is refused in words", async () => {
  const page = await open(browser);
  await page.goto(`${OPERATOR}/admin/`);
  await page.fill("input[name=token]", "not a token");
  await page.click("form.login button");
  await page.locator("[role=alert]", { hasText: "unauthorized" }).waitFor();
});

test("an event group's words and tags change", async () => {
  const token = (await readFile(`${process.env.EXCHANGE_DATA}/operator.token`, "utf8")).trim();
  const admin = await desk(token);
  const title = `Which crop in ${RUN}?`;
  await done(admin, admin.getByRole("button", { name: "New event group" }), { title, tags: "Farming, Food" });
  await row(admin, title).getByText("Farming, Food").waitFor();
  await done(admin, act(admin, title, "Words"), { title: `${title} Again`, tags: "Grain", description: "By weight." });
  await row(admin, `${title} Again`).getByText("Grain", { exact: true }).waitFor();
  await done(admin, act(admin, `${title} Again`, "Words"), { tags: "" });
  await row(admin, `${title} Again`).getByText("Grain", { exact: true }).waitFor({ state: "detached" });
  await act(admin, `${title} Again`, "Words").click();
  await admin.waitForSelector("dialog [name=description]");
  assert.equal(await admin.locator("dialog [name=description]").inputValue(), "By weight.", "what was not changed stays");
  assert.equal(await admin.locator("dialog [name=tags]").inputValue(), "", "an empty field removes the tags");
  await admin.click("dialog button:not(.primary)");
});

test("a market lives from idea to payout, with two persons", async () => {
  const token = (await readFile(`${process.env.EXCHANGE_DATA}/operator.token`, "utf8")).trim();
  const admin = await desk(token);
  const [mark, ann, ben, cash, cher] = await ["markets", "resolver", "resolver", "cashier", "cashier"].reduce(
    async (pages, role, index) => [...(await pages), await hire(admin, `p${index}-${RUN}`, role)],
    Promise.resolve([]),
  );
  await view(admin, "system");
  await done(admin, admin.getByRole("button", { name: "Resolution policy of the site" }), { second_person: "true" });

  const question = `Will it rain in ${RUN}?`;
  const opens = inDays(1);
  const fee = { rate_ppm: "40000", exponent: "1", rebate_ppm: "250000" };
  const market = { question, slug: `rain-${RUN}`, tags: "Weather", opens_at: opens, reason: "idea" };
  const clocked = { ...market, ...fee, closes_at: inDays(2), game_start_time: inDays(1), clear_book_on_start: "true" };
  await done(mark, mark.getByRole("button", { name: "New market" }), clocked);
  await row(mark, question).getByText("registered").waitFor();
  await row(mark, question).getByText("4%", { exact: true }).waitFor();
  await row(mark, question)
    .getByText(/opens .*, closes .*, clears .*, rebate 25%/)
    .waitFor();
  await done(mark, act(mark, question, "Clock"), { opens_at: "", taker_delay_ms: "3000" });
  await row(mark, question)
    .getByText(/^closes .*, clears .*, delay 3000 ms, rebate 25%$/)
    .waitFor();
  await done(mark, act(mark, question, "Clock"), { closes_at: "", game_start_time: "", clear_book_on_start: "false" });
  await row(mark, question).getByText("delay 3000 ms, rebate 25%", { exact: true }).waitFor();
  await mark.waitForFunction(() => !document.querySelector("dialog"));
  await act(mark, question, "Words").click();
  await mark.waitForSelector("dialog [name=tags]");
  assert.equal(await mark.locator("dialog [name=tags]").inputValue(), "Weather", "the words in force are shown");
  await mark.click("dialog button:not(.primary)");
  await done(mark, act(mark, question, "Activate"), {});
  await done(mark, act(mark, question, "Close"), { reason: "it rained" });
  await row(mark, question).getByText("closed").waitFor();
  assert.equal(await act(mark, question, "Resolve").count(), 0, "a role without the right is not offered it");

  await view(ann, "review");
  await done(ann, act(ann, question, "Propose"), { payout: "first", source: "https://weather.example" });
  assert.match(await refused(ann, act(ann, question, "Finalise"), {}), /another operator/);
  await view(ben, "review");
  await done(ben, act(ben, question, "Dispute"), { counter: "second", reason: "it was dew" });
  await row(ben, question).getByText("it was dew").waitFor();
  await done(ben, act(ben, question, "Propose again"), { payout: "second" });
  await view(ann, "review");
  await done(ann, act(ann, question, "Finalise"), { reason: `it was dew in ${RUN}` });
  await view(mark, "markets");
  await row(mark, question).getByText("settled").waitFor();

  await view(admin, "money");
  await done(admin, admin.getByRole("button", { name: "Limits of payments" }), { withdrawal_limit: "50" });
  await view(cash, "money");
  assert.equal(await cash.getByRole("button", { name: "Limits of payments" }).count(), 0);
  await done(cash, cash.getByRole("button", { name: "Deposit" }), { wallet: WALLET, amount: "100" });
  await done(cash, cash.getByRole("button", { name: "Withdraw" }), { wallet: WALLET, amount: "60" });
  await row(cash, WALLET).getByText("60", { exact: true }).waitFor();
  assert.equal(await act(cash, WALLET, "Confirm").count(), 0, "who asked is not offered to confirm");
  await view(cher, "money");
  await done(cher, act(cher, WALLET, "Confirm"), {});
  await row(cher, WALLET).waitFor({ state: "detached" });

  // The demo resolves its own markets in one step.
  await done(admin, admin.getByRole("button", { name: "Limits of payments" }), { withdrawal_limit: "0" });
  await view(admin, "system");
  await done(admin, admin.getByRole("button", { name: "Resolution policy of the site" }), { second_person: "false" });

  await view(admin, "log");
  await row(admin, `it was dew in ${RUN}`).getByText("/markets/finalise").waitFor();
});
