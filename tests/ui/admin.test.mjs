// The life of a market by a browser alone: from idea to payout, with two persons, and who did what.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ADMIN, RUN, act, ask, create, desk, enter, hire, panel, row, view } from "./admin.mjs";
import { WIDTHS, buy, clean, connect, eventually, go, launch, open, state } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const WALLET = "0xd43988ce15551f73188af5fda7631c6003a1bd96";
const SHORT = "0xd439…bd96";

test("a wrong token: the page says where the right one is", async () => {
  const page = await open(browser);
  await page.goto(ADMIN);
  await page.getByLabel("Your token").fill("not a token");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").filter({ hasText: "operator.token of the data directory" }).waitFor();
  await clean(page, /status of 401/);
});

test("an operator creates a market, holds and resumes it, resolves by two persons, pays out, finds who did what", async () => {
  const admin = await desk(browser);
  const ann = await hire(browser, admin, `ann-${RUN}`, "resolver");
  const ben = await hire(browser, admin, `ben-${RUN}`, "resolver");
  const mark = await hire(browser, admin, `mark-${RUN}`, "markets");
  await view(admin, "Exchange");
  await act(admin, panel(admin, "Payouts"), "Change the policy", { "A second person finalises": "Yes, on" });

  const question = `Sun or rain in ${RUN}?`;
  const words = {
    Question: question,
    Rules: "What the station reports.",
    "First outcome": "Sun",
    "Second outcome": "Rain",
    Topics: "Weather, Sky",
  };
  const preview = await create(mark, { words, trading: { "Taker fee": "4" }, reason: "idea of the season" });
  for (const text of [
    question,
    "Buy Sun",
    "Buy Rain",
    "What the station reports.",
    "Weather",
    "Sky",
    "4% of takers",
    "100 shares at 50¢ cost $1.00",
  ])
    assert.ok(preview.includes(text), `${text} is not in ${preview}`);
  await mark.locator(".result", { hasText: `‘${question}’ is created.` }).waitFor();
  const slug = `sun-or-rain-in-${RUN}`;

  const trader = await open(browser);
  await go(trader, `/ui/market/${slug}`);
  await connect(trader);
  await state(trader, "live");
  assert.equal(await trader.locator("market-view h1").textContent(), question);
  await buy(trader, { cents: 30, shares: 20 });
  await trader.waitForSelector("account-tables [role=tab]:has-text('Open orders (1')");

  const next = panel(mark, "What comes next");
  const held = await act(mark, next, "Hold", { Reason: "a question of a trader" });
  assert.match(held.says, /^Hold ‘Sun or rain.*’: trading stops until you resume it, 1 resting order stays/);
  await next.getByText(held.result).waitFor();
  const resumed = await act(mark, next, "Resume", { Reason: "answered" });
  assert.match(resumed.says, /trading goes on at once/);
  const closed = await act(mark, next, "Close", { Reason: "the day is over" });
  assert.equal(closed.says, `Close ‘${question}’: 1 resting order ends, trading stops; cannot be undone.`);
  assert.equal(await mark.getByRole("button", { name: "Pay out" }).count(), 0, "a role without the right is not offered it");
  await clean(trader);

  await view(ann, "Review");
  const asked = await ask(ann, row(ann, question), "Propose a payout", { Source: "https://weather.example" });
  assert.match(asked, /nothing is paid before it is finalised/);
  const choices = await ann.getByLabel("Outcome that pays").locator("option").allTextContents();
  assert.deepEqual(choices, ["Choose…", "Sun", "Rain", "Half each: Sun and Rain pay 50¢"]);
  const payout = ann.getByLabel("Outcome that pays");
  for (const size of WIDTHS) {
    await ann.setViewportSize(size);
    // Nobody pays out an outcome that they have not chosen: the form is not valid, so nothing is sent.
    assert.equal(await payout.inputValue(), "", `${size.width} px`);
    await ann.getByRole("dialog").getByRole("button", { name: "Propose a payout" }).click();
    assert.ok(await payout.evaluate((select) => select.matches(":invalid") && select.closest("dialog[open]") !== null));
  }
  await ann.setViewportSize(WIDTHS[0]);
  await payout.selectOption("Sun");
  const evidence = { name: "report.txt", mimeType: "text/plain", buffer: Buffer.from("sunny") };
  await ann.getByLabel("Evidence").setInputFiles(evidence);
  await ann.getByRole("dialog").getByRole("button", { name: "Propose a payout" }).click();
  await row(ann, question).getByText("another operator than you finalises").waitFor();
  assert.equal(await row(ann, question).getByRole("button", { name: "Finalise" }).count(), 0);

  await view(ben, "Review");
  const queued = await row(ben, question).innerText();
  for (const text of ["Sun", `ann-${RUN}`, "ago", "https://weather.example", "SHA-256 0xc2333a7e3a", "you may finalise"])
    assert.ok(queued.includes(text), `${text} is not in ${queued}`);
  await act(ben, row(ben, question), "Dispute", { "What is right": "Rain", Reason: "it was dew" });
  await row(ben, question).getByText(`ben-${RUN}`).waitFor();
  await row(ben, question).getByText("disputes: Rain, it was dew").waitFor();
  await act(ben, row(ben, question), "Propose again", { "Outcome that pays": "Rain" });

  await view(ann, "Review");
  const final = await act(ann, row(ann, question), "Finalise", { Reason: "the station says so" });
  assert.equal(final.says, `Finalise ‘${question}’: Rain is the payout, all holders are paid; cannot be undone.`);
  assert.match(final.result, /^The payout is final; holders are being paid\./);

  await view(mark, "Markets");
  await mark.getByRole("searchbox", { name: "Search markets" }).fill(RUN);
  const isPaid = async () => {
    await mark.getByRole("button", { name: "Refresh" }).click();
    return row(mark, question).innerText();
  };
  await eventually(isPaid, (text) => text.includes("paid out"));

  await view(admin, "Log");
  await admin.getByRole("combobox", { name: "Person" }).selectOption(`ann-${RUN}`);
  const log = row(admin, "the station says so");
  for (const text of [`ann-${RUN}`, "finalised the payout", question]) await log.getByText(text).waitFor();
  await row(admin, "proposed a payout: Sun").waitFor();
  // Only one person's acts, once the list is that of the choice.
  await eventually(
    () => row(admin, `ben-${RUN}`).count(),
    (rows) => rows === 0,
  );
  await log.getByRole("link", { name: question }).click();
  const latest = panel(admin, "Latest acts on it");
  for (const text of [
    "created the market",
    "held it",
    "resumed it",
    "closed it",
    "disputed the payout: Rain",
    "idea of the season",
    "a question of a trader",
  ])
    await latest.getByText(text).first().waitFor();

  // The demo resolves its own markets in one step.
  await view(admin, "Exchange");
  await act(admin, panel(admin, "Payouts"), "Change the policy", { "A second person finalises": "No, off" });
  for (const page of [admin, ann, ben, mark]) await clean(page);
});

test("two persons pay a withdrawal above the limit", async () => {
  const admin = await desk(browser);
  const [cash, cher] = [await hire(browser, admin, `cash-${RUN}`, "cashier"), await hire(browser, admin, `cher-${RUN}`, "cashier")];
  await view(admin, "Money");
  await act(admin, admin.locator("main"), "Change the limits", { "A second person pays": "50" });
  await admin.locator(".card", { hasText: "Two persons above" }).getByText("$50.00").waitFor();
  await view(cash, "Money");
  assert.equal(await cash.getByRole("button", { name: "Change the limits" }).count(), 0);
  await act(cash, cash.locator("main"), "Deposit", { "Wallet, 0x": WALLET, Amount: "100" });
  const asked = await act(cash, cash.locator("main"), "Withdraw", { "Wallet, 0x": WALLET, Amount: "60" });
  assert.match(asked.result, /waits for a second person/);
  await row(cash, "$60.00").getByText("another operator than you pays").waitFor();
  await view(cher, "Money");
  const paid = await act(cher, row(cher, "$60.00"), "Mark paid", { Reference: `wire ${RUN}` });
  assert.equal(paid.says, `Mark paid the withdrawal of $60.00 from ${SHORT}, which was paid outside of the exchange; cannot be undone.`);
  await panel(cher, "Withdrawals that wait (0)").waitFor();
  await row(cher, `wire ${RUN}`).getByText(`paid by cher-${RUN}`).waitFor();
  await view(admin, "Money");
  await act(admin, admin.locator("main"), "Change the limits", { "A second person pays": "0" });
  for (const page of [admin, cash, cher]) await clean(page);
});

test("a user asks for a withdrawal, cancels it, asks again, and sees that it is paid", async () => {
  const [admin, page] = [await desk(browser), await open(browser)];
  await go(page, "/ui/portfolio");
  await connect(page, 3);
  const free = async () => Number((await page.locator(".card", { hasText: "Free" }).locator("strong").innerText()).replace(/[$,]/g, ""));
  const before = await eventually(free, (amount) => amount > 0);
  const form = page.locator("withdraw-form");
  const ask = async (amount) => {
    await form.getByLabel("Amount").fill(amount);
    await form.getByLabel("To", { exact: true }).fill(`bank account ${RUN}`);
    await form.getByRole("button", { name: "Withdraw" }).click();
  };
  await form.getByText("Withdraw", { exact: true }).first().click();
  await ask("900000000");
  await form
    .getByRole("alert")
    .getByText(/^You have \$[\d,.]+ free$/)
    .waitFor();
  await ask("12.50");
  await page.getByRole("tab", { name: "Withdrawals" }).click();
  await row(page, "$12.50").getByText("asked for").waitFor();
  await eventually(free, (amount) => amount === before - 12.5);
  await row(page, "$12.50").getByRole("button", { name: "Cancel the withdrawal of $12.50" }).click();
  await row(page, "$12.50").getByText("cancelled").waitFor();
  await eventually(free, (amount) => amount === before);

  await ask("7.25");
  await row(page, "$7.25").getByText("asked for").waitFor();
  await view(admin, "Money");
  await act(admin, row(admin, "$7.25"), "Claim");
  await row(page, "$7.25").getByText("being paid").waitFor();
  assert.equal(await row(page, "$7.25").getByRole("button").count(), 0);
  await act(admin, row(admin, "$7.25"), "Mark paid", { Reference: `wire ${RUN} 2` });
  await page.getByText("Your withdrawal of $7.25 is paid.").waitFor();
  await row(page, `wire ${RUN} 2`).getByText("paid", { exact: true }).waitFor();
  assert.equal(await free(), before - 7.25);
  for (const each of [admin, page]) await clean(each);
});

test("times are picked with their zone, fees in percent, and both are shown so", async () => {
  const page = await desk(browser, undefined, { timezoneId: "America/New_York" });
  const question = `When in ${RUN}?`;
  await create(page, { words: { Question: question, Rules: "As the clock says." }, trading: { "Takers wait": "3" } });
  const terms = panel(page, "How it trades");
  await ask(page, terms, "Change the clock", { "Makers get": "25" });
  const closes = page.getByRole("dialog").locator(".field", { hasText: "Closes" });
  await closes.getByLabel("Closes", { exact: false }).first().fill("2030-01-01T08:00");
  await closes.getByText("2030-01-01 13:00 UTC, in").waitFor();
  await closes.getByRole("combobox").selectOption("UTC");
  await closes.getByText("2030-01-01 08:00 UTC, in").waitFor();
  await closes.getByRole("combobox").selectOption("America/New_York");
  await page.getByRole("dialog").getByRole("button", { name: "Change the clock" }).click();
  await terms.getByText("Jan 1, 2030, 08:00").waitFor();
  await terms.getByText("25% of each fee").waitFor();
  await terms.getByText("3 s", { exact: true }).waitFor();
  await act(page, terms, "Change the fee", { "Taker fee": "2.5" });
  await terms.getByText("2.5% of takers").waitFor();
  await view(page, "Markets");
  await page.getByRole("searchbox", { name: "Search markets" }).fill(question);
  await row(page, question)
    .getByText(/closes in \d+ d/)
    .waitFor();
  await clean(page);
});

test("an event group's words and topics change", async () => {
  const page = await desk(browser);
  const title = `Which crop in ${RUN}?`;
  const groups = panel(page, "Event groups");
  await act(page, groups, "New event group", { Title: title, Topics: "Farming, Food" });
  await row(page, title).getByText("Farming, Food").waitFor();
  const edited = await act(page, row(page, title), "Edit the words", { Topics: "Grain", Description: "By weight." });
  await row(page, title).getByText(edited.result).waitFor();
  await row(page, title).getByText("Grain", { exact: true }).waitFor();
  await ask(page, row(page, title), "Edit the words");
  const dialog = page.getByRole("dialog");
  assert.equal(await dialog.getByLabel("Description").inputValue(), "By weight.", "what was not changed stays");
  await enter(dialog, { Topics: "" });
  await dialog.getByRole("button", { name: "Edit the words" }).click();
  await row(page, title).getByText("Grain", { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "New market" }).click();
  await page.getByLabel("Event group").selectOption({ label: title });
  await clean(page);
});

test("a refusal is said in words, the exchange's own text stands below", async () => {
  const page = await desk(browser);
  await create(page, { words: { Question: `Twice in ${RUN}?`, Rules: "Once." } });
  await view(page, "Markets");
  await page.getByRole("link", { name: "New market" }).click();
  const form = page.locator("main form");
  await enter(form, { Question: `Twice in ${RUN}!`, Rules: "Again." });
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("button", { name: "Create the market" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText(/Choose another/).waitFor();
  await alert.locator("code").waitFor();
  await clean(page, /status of 409/);
});
