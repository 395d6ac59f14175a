// The views beyond one market: search, first screen, events, portfolio, and what survives a reload.

import assert from "node:assert/strict";
import fs from "node:fs/promises";
import { after, before, test } from "node:test";

import { MARKET, buy, clean, connect, eventually, go, launch, open, register, state } from "./browser.mjs";

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

test("a profit has its sign, fees are in it, and both stand by market", async () => {
  const market = await register(`Will a loss look like one? ${Date.now()}`, { fee: { rate_ppm: 40_000, exponent: 1 } });
  const title = "Will a loss look like one?";
  const [maker, taker] = await Promise.all([open(browser), open(browser)]);
  await Promise.all([go(maker, market), go(taker, market)]);
  await Promise.all([connect(maker, 3), connect(taker, 2)]);
  await Promise.all([state(maker, "live"), state(taker, "live")]);
  const no = (page) => page.locator('order-ticket .outcomes input[value="1"]').check({ force: true });
  const yes = (page) => page.locator('order-ticket .outcomes input[value="0"]').check({ force: true });
  await no(maker);
  await buy(maker, { cents: 40, shares: 10 });
  await maker.waitForSelector(".notice:has-text('Order rests')");
  await buy(taker, { cents: 60, shares: 10 });
  await taker.waitForSelector(".notice:has-text('Filled 10 Yes: $6.10 debited, 9.60¢ of it fee.')");
  // A new middle, 25¢: what cost $6.096 is worth $2.50.
  await buy(maker, { cents: 70, shares: 10 });
  await maker.waitForSelector(".notice:has-text('at 70¢')");
  await yes(maker);
  await buy(maker, { cents: 20, shares: 10 });
  await maker.waitForSelector(".notice:has-text('at 20¢')");
  await taker.click("nav a:has-text('Portfolio')");
  const row = taker.locator(".by-market tr", { hasText: title });
  const cells = async () => (await row.locator("td").allTextContents()).slice(1);
  await eventually(cells, (texts) => texts.join() === "$0.00,▼ −$3.60,$0.10,▼ −$3.60");
  assert.equal(await row.locator("td.down").count(), 2);
  await taker.click("account-tables [role=tab]:has-text('Positions')");
  await taker.waitForSelector(`account-tables tr:has-text('${title}') td.down:has-text('▼ −$3.60')`);
  await go(taker, market);
  await state(taker, "live");
  await buy(taker, { cents: 20, shares: 10, side: "SELL" });
  await taker.waitForSelector(".notice:has-text('Filled 10 Yes: $1.94 credited after 6.40¢ fee.')");
  await taker.click("nav a:has-text('Portfolio')");
  // 2 − 0.064 − 6 − 0.096.
  await eventually(cells, (texts) => texts.join() === "▼ −$4.16,$0.00,$0.16,▼ −$4.16");
  await Promise.all([clean(maker), clean(taker)]);
});

test("another wallet's profit is gone at once, and another outcome's chart, too", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await connect(page, 0);
  await state(page, "live");
  await buy(page, { cents: 99, shares: 5 });
  await page.waitForSelector(".notice:has-text('Filled')");
  let release;
  let gate = new Promise((resolve) => (release = resolve));
  await page.waitForSelector("price-chart path.area");
  await page.route("**/prices-history?**", async (route) => {
    await gate;
    await route.continue();
  });
  await page.locator('.ladder-panel input[value="1"]').check({ force: true });
  await page.waitForSelector("price-chart .skeleton.chart");
  assert.equal(await page.locator("price-chart path.area").count(), 0);
  release();
  await page.waitForSelector("price-chart path.area");

  await page.click("nav a:has-text('Portfolio')");
  await page.waitForSelector(".by-market td.title");
  gate = new Promise((resolve) => (release = resolve));
  await page.route("**/closed-positions?**", async (route) => {
    await gate;
    await route.continue();
  });
  await page.click(".wallet-box .account");
  await page.click("dialog button:has-text('Disconnect')");
  await connect(page, 1);
  await page.waitForSelector(".by-market .skeleton");
  assert.equal(await page.locator(".by-market td.title").count(), 0);
  assert.ok(await page.locator(".by-market button.csv").isHidden());
  release();
  await page.waitForSelector(".by-market .skeleton", { state: "detached" });
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await clean(page);
});

test("the sum of chances is not known while one of them is not", async () => {
  const page = await open(browser);
  await page.route("**/ui/api/markets/summary?**", async (route) => {
    const response = await route.fetch();
    const rows = await response.json();
    if (rows.length > 1) Object.assign(rows[1], { price: null, change_24h: null, last_price: null, best_bid: null, best_ask: null });
    await route.fulfill({ response, json: rows });
  });
  await page.routeWebSocket("**/ws/market", () => {});
  await go(page, EVENT);
  await page.waitForSelector(".event-row .c-chance strong:text-matches('%')");
  assert.match(await page.locator("event-view .meta").textContent(), /sum of chances –/);
  await clean(page);
});

test("sums of an event are not known before its figures came, and why they did not is told", async () => {
  const page = await open(browser);
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  await page.route("**/ui/api/markets/summary?**", async (route) => {
    await gate;
    await route.fulfill({ status: 400, json: { error: "the reason in words" } });
  });
  await go(page, EVENT);
  await page.waitForSelector(".event-row.link-row");
  const meta = () => page.locator("event-view .meta").textContent();
  assert.match(await meta(), /vol .* –.*sum of chances –/);
  await state(page, "loading");
  release();
  await page.waitForSelector(".notice:has-text('the reason in words')");
  await state(page, "live");
  assert.match(await meta(), /vol .* –.*sum of chances –/);
  await clean(page, /status of 400/);
});

test("lists longer than a page: the page says so, sums and files have all", async () => {
  const page = await open(browser);
  const position = (number) => ({
    conditionId: `0x${number.toString(16).padStart(64, "0")}`,
    title: `Position ${number}`,
    slug: `p-${number}`,
    outcome: "Yes",
    outcomeIndex: 0,
    size: 1,
    avgPrice: 0.5,
    curPrice: 1,
    currentValue: 1,
    cashPnl: 0.5,
    percentPnl: 100,
    realizedPnl: 0,
    entryFeesUsdc: 0,
    redeemable: false,
  });
  await page.route("**/ui/api/data/positions?**", (route) => {
    const offset = Number(new URL(route.request().url()).searchParams.get("offset"));
    return route.fulfill({ json: Array.from({ length: offset === 0 ? 500 : 1 }, (_, i) => position(offset + i)) });
  });
  const act = (number) => ({
    type: "TRADE",
    side: "BUY",
    conditionId: `0x${"0".repeat(64)}`,
    title: `Act ${number}`,
    slug: "act",
    outcome: "Yes",
    outcomeIndex: 0,
    size: 1,
    price: 0.5,
    usdcSize: 0.5,
    feeUsdc: 0,
    timestamp: 1_700_000_000 - number,
    transactionHash: "",
  });
  await page.route("**/ui/api/data/activity?**", (route) => {
    const query = new URL(route.request().url()).searchParams;
    const first = Number(query.get("cursor") ?? 0);
    const rows = Array.from({ length: first < 200 ? 100 : 7 }, (_, i) => act(first + i));
    return route.fulfill({ json: rows, headers: first < 200 ? { "x-next-cursor": String(first + 100) } : {} });
  });
  await go(page, "/ui/portfolio");
  await connect(page, 1);
  await page.waitForSelector(".card:has(span:text-is('Positions')) strong:text-is('$501.00')");
  await page.waitForSelector("account-tables [role=tab]:has-text('Positions (501)')");
  await page.click("account-tables [role=tab]:has-text('Activity')");
  await page.waitForSelector("account-tables .cut:text-is('The newest 100. The exported file has all.')");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("account-tables button.csv")]);
  const lines = (await fs.readFile(await download.path(), "utf8")).split("\r\n");
  assert.equal(lines.length, 1 + 207);
  await page.unrouteAll({ behavior: "ignoreErrors" });
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
