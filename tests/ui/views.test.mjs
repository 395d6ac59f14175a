// The views beyond one market: search, first screen, events, portfolio, and what survives a reload.

import assert from "node:assert/strict";
import fs from "node:fs/promises";
import { after, before, test } from "node:test";

import { MARKET, clean, connect, eventually, go, launch, open, state } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const EVENT = "/ui/event/harbour-city-mayor-2027";
const rows = (page) => page.locator(".list-row.link-row").count();

test("Escape ends the search and its filter", async () => {
  const page = await open(browser);
  await go(page, "/ui/");
  await page.waitForSelector(".link-row .spark path");
  const all = await rows(page);
  await page.keyboard.press("/");
  await page.keyboard.type("lindqvist");
  await eventually(
    () => rows(page),
    (count) => count === 1,
  );
  await page.keyboard.press("Escape");
  await eventually(
    () => rows(page),
    (count) => count === all,
  );
  assert.equal(await page.inputValue("header input[type=search]"), "");
  await clean(page);
});

test("the first screen shows movers, the most traded, icons by topic and a trend of 24 h", async () => {
  const page = await open(browser);
  await page.route("**/ui/api/markets/summary?**", async (route) => {
    const response = await route.fetch();
    const summaries = await response.json();
    summaries.forEach((row, i) => Object.assign(row, { volume_24h: String(i), change_24h: String((summaries.length - i) / 1000) }));
    await route.fulfill({ response, json: summaries });
  });
  await go(page, "/ui/");
  await page.waitForSelector(".highlights li .spark path");
  for (const name of ["Top movers", "Most traded"]) {
    const list = page.locator(`.highlights section[aria-label="${name}"] li`);
    assert.equal(await list.count(), 3);
    assert.equal(await list.first().locator(".topic svg").count(), 1);
  }
  const moves = await page.locator('.highlights section[aria-label="Top movers"] small.up').allTextContents();
  const sizes = moves.map((text) => Number(text.replace(/[^\d.]/g, "")));
  assert.deepEqual(
    sizes,
    [...sizes].sort((a, b) => b - a),
  );
  assert.ok(sizes[0] > 0);
  assert.ok((await page.locator(".list-row .topic.politics").count()) > 0);
  assert.ok((await page.locator(".list-row .topic.sports").count()) > 0);
  await page.fill("header input[type=search]", "lindqvist");
  await page.waitForSelector(".highlights", { state: "hidden" });
  await clean(page);
});

test("an event has a row an outcome with its short name, a line an outcome, and the sum of chances", async () => {
  const page = await open(browser);
  await go(page, "/ui/");
  await page.click(".list-row .event-link:has-text('mayor of Harbour City')");
  await page.waitForURL(/\/ui\/event\/harbour-city-mayor-2027$/);
  await page.waitForSelector("event-chart path.line-4");
  const names = await page.locator(".event-row .c-market a").allTextContents();
  assert.deepEqual(names.slice(0, 2), ["Amara Lindqvist", "Tomas Okafor"]);
  const cells = await page.locator(".event-row.link-row").first().locator("[role=cell]").allTextContents();
  assert.match(cells[1], /^\d+\.\d%$/);
  assert.match(cells[3], /¢/);
  assert.match(cells[4], /¢/);
  assert.match(cells[5], /^\$/);
  assert.match(await page.locator("event-view .meta").textContent(), /sum of chances \d+\.\d%/);
  assert.equal(await page.locator("event-chart path.line").count(), 5);
  assert.equal(await page.locator('.event-row[data-line="0"]').count(), 1);
  await page.focus("event-chart .chart");
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.locator("event-chart .readout").textContent(), /Amara Lindqvist \d/);
  await page.locator(".event-row.link-row").first().locator("button.outcome.yes").click();
  await page.waitForURL(/lindqvist/);
  await clean(page);
});

test("what the catalog calls a question is its short name", async () => {
  const page = await open(browser);
  await page.route("**/ui/api/catalog/events?slug=**", async (route) => {
    const response = await route.fetch();
    const events = await response.json();
    events[0].markets[0].groupItemTitle = "Lindqvist (Harbour List)";
    await route.fulfill({ response, json: events });
  });
  await go(page, EVENT);
  await page.waitForSelector(".event-row .c-market a:text-is('Lindqvist (Harbour List)')");
  await clean(page);
});

test("the portfolio shows value over time, realized and unrealized profit by market, and saves files", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await connect(page, 0);
  await state(page, "live");
  await page.locator('order-ticket input[value="market"]').check({ force: true });
  await page.fill("#ticket-amount", "9");
  await page.click("order-ticket .submit");
  await page.waitForSelector(".notice:has-text('Filled')");
  await page.click("nav a:has-text('Portfolio')");
  await page.waitForSelector("value-chart path.area");
  await page.click("value-chart label:has-text('All')");
  await page.waitForSelector("value-chart path.area");
  const worth = await page.locator(".card:has(span:text-is('Portfolio')) strong").textContent();
  const now = await page.locator("value-chart .tag-text").textContent();
  const amount = (text) => Number(text.replace(/[^\d.]/g, ""));
  assert.ok(Math.abs(amount(worth) - amount(now)) < 5, `${worth} and ${now}`);
  for (const name of ["Realized profit", "Unrealized profit"])
    await page.waitForSelector(`.card:has(span:text-is('${name}')) strong:has-text('$')`);
  await page.waitForSelector(".by-market td.title a:has-text('Lindqvist')");
  const heads = await page.locator(".by-market th").allTextContents();
  assert.deepEqual(heads, ["Market", "Realized profit", "Unrealized profit", "Fees", "Total"]);
  for (const [place, line] of [
    [".by-market", /^"Market","Realized profit","Unrealized profit","Fees","Total"\r\n/],
    ["account-tables", /^"Time","Market","Outcome","Side","Price","Shares","Fee","Role","Proof"\r\n"\d{4}-\d\d-\d\dT/],
  ]) {
    if (place === "account-tables") await page.click("account-tables [role=tab]:has-text('Fills')");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`${place} button.csv`)]);
    assert.match(await fs.readFile(await download.path(), "utf8"), line);
  }
  await clean(page);
});

test("the connection of a development wallet survives a reload", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await connect(page, 1);
  await page.reload();
  await page.waitForSelector(".wallet-box .account strong:not(:empty)");
  await page.click(".wallet-box .account");
  await page.click("dialog button:has-text('Disconnect')");
  await page.reload();
  await page.waitForSelector(".wallet-box .connect");
  await clean(page);
});

test("one dot stands for the stream; its figures are in the engine room", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await state(page, "live");
  const shown = await page.locator(".status").evaluate((element) => ({ text: element.textContent, width: element.offsetWidth }));
  assert.equal(shown.text, "live");
  assert.ok(shown.width < 32, `${shown.width} px`);
  await page.click("nav a:has-text('Engine room')");
  for (const name of ["Sequence shown", "Messages/s", "Age on arrival"]) await page.waitForSelector(`.engine .card:has-text("${name}")`);
  await eventually(
    () => page.locator('.engine .card:has-text("Sequence shown") strong').textContent(),
    (text) => Number(text.replace(/\D/g, "")) > 0,
  );
  await clean(page);
});
