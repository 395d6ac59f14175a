// What the page shows is what the exchange says: one row a market, changes, payouts, titles, proofs, labels.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  BASE,
  MARKET,
  WIDTHS,
  buy,
  clean,
  connect,
  eventually,
  go,
  launch,
  open,
  operate,
  register,
  singleModules,
  state,
} from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const listed = async (slug) => {
  const { data } = await (await fetch(`${BASE}/sampling-markets`)).json();
  return data.find((market) => slug.endsWith(market.slug));
};

/** Changes the figures of the first rows that the page reads. */
const figures = (page, change) =>
  page.route("**/ui/api/markets/summary?**", async (route) => {
    const response = await route.fetch();
    const rows = await response.json();
    rows.forEach(change);
    await route.fulfill({ response, json: rows });
  });

test("a condition in two records is one row, and no slot is empty", async () => {
  const page = await open(browser);
  let question = "";
  await page.route("**/ui/api/catalog/events?**", async (route) => {
    const response = await route.fetch();
    const events = await response.json();
    const event = events.find((each) => each.markets.length > 1);
    const again = (slug) => ({ ...event.markets[0], id: "999", slug });
    if (event) {
      [{ question }] = event.markets;
      event.markets.splice(1, 0, again("again-in-its-event"));
      events.push({ ...event, id: "998", slug: "another-event", markets: [again("again-in-another")] });
    }
    await route.fulfill({ response, json: events });
  });
  await go(page, "/ui/");
  await page.waitForSelector(".link-row .spark path");
  await page.fill("header input[type=search]", question);
  await page.waitForSelector(".total:has-text('1 of ')");
  const slots = await page.evaluate(() => {
    const rows = [...document.querySelectorAll(".list-row.link-row")];
    const height = rows[0].offsetHeight;
    const places = rows.map((row) => Math.round(new DOMMatrix(getComputedStyle(row).transform).f / height)).sort((a, b) => a - b);
    const all = Math.round(document.querySelector(".rows").offsetHeight / height);
    return { places, all, titles: rows.map((row) => row.querySelector("a").textContent) };
  });
  assert.deepEqual(slots, { places: [0], all: 1, titles: [question] });
  await clean(page);
});

test("the change of 24 h is that of the exchange, its base stays when prices move, and No mirrors it", async () => {
  const page = await open(browser);
  // A day ago the price was 41.
  await figures(page, (row) => Object.assign(row, { price: "0.46", change_24h: "0.05", best_bid: "0.45", best_ask: "0.47" }));
  const { condition_id: id, assets_ids: tokens } = await listed(MARKET);
  await page.routeWebSocket("**/ws/market", (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => {
      // Of the market's own changes only the one below comes through.
      if (!String(message).includes(tokens[0]) || String(message).includes('"event_type":"book"')) socket.send(message);
    });
    page.moveTop = (bid, ask) =>
      socket.send(JSON.stringify({ event_type: "best_bid_ask", market: id, asset_id: tokens[0], best_bid: bid, best_ask: ask }));
  });
  await go(page, "/ui/");
  await page.fill("header input[type=search]", "lindqvist");
  const row = page.locator(".list-row.link-row", { hasText: "Lindqvist" }).first();
  await row.locator(".spark path").first().waitFor();
  assert.equal(await row.locator(".c-change_24h").textContent(), "▲ 5.0");
  await eventually(
    () => {
      page.moveTop("0.5", "0.52");
      return row.locator(".c-change_24h").textContent();
    },
    (text) => text === "▲ 10.0",
  );
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await clean(page);

  const market = await open(browser);
  await figures(market, (each) => Object.assign(each, { price: "0.9", change_24h: "0.88" }));
  await go(market, MARKET);
  await market.waitForSelector(".headline .change.up");
  await market.locator('.ladder-panel input[value="1"]').check({ force: true });
  await market.waitForSelector(".headline .change.down");
  await clean(market);
});

test("a resolved market shows its payout, what the visitor was paid, and nothing to trade with", async () => {
  const page = await open(browser);
  const path = await register("Will this market be resolved to No?");
  await go(page, path);
  await connect(page, 2);
  await state(page, "live");
  await page.click("share-actions summary");
  await page.fill("#action-amount", "12");
  await page.click("share-actions button:has-text('Split')");
  await page.waitForSelector(".notice:has-text('Split')");
  // Both sides of the book: the price has a history.
  await buy(page, { cents: 44, shares: 6 });
  await page.waitForSelector(".notice:has-text('at 44¢')");
  await buy(page, { cents: 50, shares: 6, side: "SELL" });
  await page.waitForSelector(".notice:has-text('at 50¢')");
  await eventually(
    () => fetch(`${BASE}/ui/api/catalog/markets?slug=${path.split("/").at(-1)}`).then((answer) => answer.json()),
    ([market]) => market.bestAsk === 0.5,
  );
  await operate("market", "close", path.split("/").at(-1), "--reason", "the end");
  await operate("market", "resolve", path.split("/").at(-1), "No", "--reason", "the end");
  await page.waitForSelector("resolution-panel h2:has-text('Resolved: No')");
  await eventually(
    () => page.locator(".headline").textContent(),
    (text) => text.startsWith("0%"),
  );
  assert.equal(await page.locator("order-ticket, order-ladder, .trade-bar").count(), 0);
  await page.waitForSelector("price-chart .tag-text:text-is('0¢')");
  const paid = page.locator("resolution-panel .own .strong:has-text('You were paid'):has-text('$12.00')");
  const redeem = page.locator("resolution-panel button:has-text('Redeem $12.00')");
  await paid.or(redeem).first().waitFor();
  // The exchange pays holders by itself, sooner or later.
  if (await redeem.isVisible()) await redeem.click();
  await paid.waitFor();
  await page.reload();
  await paid.waitFor();
  await page.waitForSelector("price-chart .tag-text:text-is('0¢')");
  assert.equal(await page.locator("order-ticket, order-ladder, .trade-bar").count(), 0);
  await clean(page);
});

test("a search needs no accents, and what ended is in a list of its own", async () => {
  const page = await open(browser);
  const path = await register("Está São Paulo à frente?");
  await go(page, "/ui/");
  const rows = () => page.locator(".list-row.link-row").count();
  const one = () => eventually(rows, (count) => count === 1);
  await page.fill("header input[type=search]", "esta sao paulo");
  await one();
  await operate("market", "close", path.split("/").at(-1), "--reason", "the end");
  await operate("market", "resolve", path.split("/").at(-1), "Yes", "--reason", "the end");
  await page.selectOption("select[aria-label=Stage]", "ended");
  await one();
  await page.waitForSelector(`.list-row a[href="${path}"]`);
  await eventually(
    () => page.locator(".list-row.link-row .c-chance").textContent(),
    (text) => text.includes("Yes"),
  );
  assert.equal(await page.locator(".list-row.link-row .trade-buttons:visible").count(), 0);
  await page.click(`.list-row a[href="${path}"]`);
  await page.waitForSelector("resolution-panel h2:has-text('Resolved: Yes')");
  await clean(page);
});

test("own orders, fills and activity name and link their market, whatever page is open", async () => {
  const page = await open(browser);
  const question = "Will titles be where a visitor looks?";
  await go(page, await register(question));
  await connect(page, 3);
  await state(page, "live");
  await buy(page, { cents: 30, shares: 8 });
  await page.waitForSelector(".notice:has-text('Order rests')");
  await page.click("share-actions summary");
  await page.click("share-actions button:has-text('Split')");
  await page.waitForSelector(".notice:has-text('Split')");
  // A list that lacks the market, as that of a larger exchange would.
  await page.route("**/ui/api/catalog/events?**", (route) => route.fulfill({ json: [] }));
  await go(page, "/ui/portfolio");
  for (const tab of ["Open orders", "Activity"]) {
    await page.click(`account-tables [role=tab]:has-text('${tab}')`);
    await page.waitForSelector(`account-tables td.title a[href^="/ui/market/own-"]:has-text('${question}')`);
  }
  await page.click("account-tables [role=tab]:has-text('Open orders')");
  await page.click("account-tables button:has-text('Cancel everywhere')");
  await page.waitForSelector(".notice:has-text('cancelled')");
  await clean(page);
});

test("no figure stands before its data: bars in the layout, a dot that says loading, no fee", async () => {
  const page = await open(browser);
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  await page.route(/\/(books\?|prices-history|markets\/|clob-markets\/|ui\/api\/data|ui\/api\/markets)/, async (route) => {
    await gate;
    await route.continue();
  });
  await page.routeWebSocket("**/ws/market", (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => String(message).includes('"event_type":"book"') || socket.send(message));
  });
  await go(page, MARKET);
  await state(page, "loading");
  for (const place of ["price-chart .skeleton.chart", "order-ladder .skeleton.levels", "trade-list .skeleton"])
    await page.waitForSelector(place);
  const bar = await page.locator("order-ladder .skeleton .bar").first().boundingBox();
  assert.ok(bar.width > 100, "bars can be seen");
  assert.equal(await page.locator("order-ticket .submit").textContent(), "Loading…");
  assert.ok(await page.locator("order-ticket .submit").isDisabled());
  assert.doesNotMatch(await page.locator("order-ticket .figures").textContent(), /\d/);
  assert.equal(await page.locator(".empty:visible").count(), 1, "only the hint to connect");
  release();
  await state(page, "live");
  await page.waitForSelector("order-ticket .submit:enabled");
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await clean(page);
});

/** Has the connected wallet place orders of 5 shares, many at a time. Returns the receipt of the first trade. */
const place = (page, orders) =>
  page.evaluate(async ({ outcome, cents, shares, count }) => {
    const { placeOrder } = await import("/ui/lib/session.js");
    const { get } = await import("/ui/lib/store.js");
    const [makerAmount, takerAmount] = [BigInt(cents * shares) * 10_000n, BigInt(shares) * 1_000_000n];
    const terms = {
      token: get("market").tokens[outcome],
      negRisk: false,
      side: "BUY",
      type: "GTC",
      postOnly: false,
      makerAmount,
      takerAmount,
    };
    const first = await placeOrder(terms);
    let left = count - 1;
    const work = async () => {
      while (left-- > 0) await placeOrder(terms);
    };
    await Promise.all(Array.from({ length: 8 }, work));
    return first.transactionsHashes[0];
  }, orders);

test("the proof of a trade is found by its receipt, however many trades are newer", async () => {
  const newer = 1_050;
  const [maker, taker] = await Promise.all([open(browser), open(browser)]);
  await Promise.all([singleModules(maker), singleModules(taker)]);
  const market = await register("Will a trade be found among a thousand?");
  await Promise.all([go(maker, market), go(taker, market)]);
  await Promise.all([connect(maker, 1), connect(taker, 2)]);
  await Promise.all([state(maker, "live"), state(taker, "live")]);
  // Own records would be read again after each of the trades.
  for (const page of [maker, taker])
    await page.route(/\/data\/(trades|orders|activity|positions)/, (route) =>
      route.fulfill({ json: route.request().url().includes("/ui/") ? [] : { data: [] } }),
    );
  await place(maker, { outcome: 1, cents: 60, shares: 5 * newer, count: 1 });
  const receipt = await place(taker, { outcome: 0, cents: 40, shares: 5, count: newer });
  await go(taker, `/ui/proof/${receipt}`);
  await taker.waitForSelector(`proof-view dd:has-text('${receipt}')`);
  await taker.waitForSelector("proof-view h2:has-text('signature valid')");
  await taker.waitForSelector("proof-view dd a:has-text('among a thousand')");
  await go(taker, `/ui/proof/0x${"7".repeat(64)}`);
  await taker.waitForSelector("proof-view .empty:has-text('There is no such trade.')");
  await Promise.all([clean(maker), clean(taker, /status of 404/)]);
});

test("labels of the axes neither repeat nor leave the chart", async () => {
  for (const viewport of WIDTHS) {
    const page = await open(browser, { viewport });
    for (const [name, span] of Object.entries({ minutes: 150, "a day and a half": 130_000, days: 220_000, month: 2_500_000 })) {
      await page.route("**/prices-history?**", (route) => {
        const now = Math.floor(Date.now() / 1000);
        const history = Array.from({ length: 60 }, (_, i) => ({ t: now - span + Math.floor((span * i) / 60), p: 0.41 + (i % 7) / 1000 }));
        return route.fulfill({ json: { history } });
      });
      await go(page, MARKET);
      await page.click("price-chart label:has-text('All')");
      await page.waitForSelector("price-chart path.area");
      await page.click(".details [role=tab]:has-text('Depth')");
      await page.waitForSelector("depth-chart path.area");
      const problems = await page.evaluate(() => {
        const found = [];
        for (const svg of document.querySelectorAll("price-chart .chart svg, depth-chart .chart svg")) {
          const labels = [...svg.querySelectorAll(".axis, .tag-text")];
          const texts = labels.filter((label) => label.matches(".axis")).map((label) => label.textContent);
          if (texts.length < 3) found.push(`few: ${texts}`);
          if (new Set(texts).size < texts.length) found.push(`repeated: ${texts}`);
          const frame = svg.getBoundingClientRect();
          const boxes = labels.map((label) => label.getBoundingClientRect());
          for (const box of boxes)
            if (box.left < frame.left || box.right > frame.right + 0.5 || box.top < frame.top || box.bottom > frame.bottom + 0.5)
              found.push(`clipped in ${svg.parentElement.className}`);
        }
        return found;
      });
      assert.deepEqual(problems, [], `${viewport.width} px, ${name}`);
      await page.unroute("**/prices-history?**");
    }
    await clean(page);
  }
});

test("many changes in a frame are drawn once", async () => {
  const page = await open(browser);
  await singleModules(page);
  await page.routeWebSocket("**/ws/market", () => {});
  await go(page, MARKET);
  await page.waitForSelector("market-view .meta:has-text('vol')");
  await page.waitForSelector(".badge-state.active");
  const draws = await page.evaluate(async () => {
    const { get, set } = await import("/ui/lib/store.js");
    const next = () => new Promise(requestAnimationFrame);
    await next();
    let count = 0;
    new MutationObserver((records) => (count += records.length)).observe(document.querySelector(".headline .change"), { attributes: true });
    for (let i = 0; i < 100; i += 1) set("figures", [get("market").id]);
    await next();
    await next();
    return count;
  });
  // Another change may come meanwhile.
  assert.ok(draws > 0 && draws < 4, `${draws}`);
  await clean(page);
});

test("the ladder has every price between two levels, or says how many it leaves out", async () => {
  const page = await open(browser);
  const { assets_ids: tokens } = await listed(MARKET);
  await page.routeWebSocket("**/ws/market", () => {});
  await page.route("**/books?**", async (route) => {
    const response = await route.fetch();
    const [book] = await response.json();
    const level = (price) => ({ price, size: "10" });
    Object.assign(book, { asset_id: tokens[0], bids: ["0.1", "0.35", "0.38", "0.4"].map(level), asks: ["0.9", "0.43", "0.41"].map(level) });
    await route.fulfill({ response, json: [book] });
  });
  await go(page, MARKET);
  await page.waitForSelector(".level.gap");
  const shown = await page.evaluate(() => {
    const lines = [...document.querySelectorAll(".level")].sort(
      (a, b) => a.getAttribute("aria-rowindex") - b.getAttribute("aria-rowindex"),
    );
    return lines.map((line) => line.querySelector(".price").textContent);
  });
  const text = shown.join(" ");
  assert.match(text, /90¢ 46 prices without orders 43¢ 42¢ 41¢ 40¢ 39¢ 38¢ 37¢ 36¢ 35¢ 24 prices without orders 10¢/);
  await clean(page);
});
