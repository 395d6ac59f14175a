// The page in Chromium against a running demo with its bots.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, test } from "node:test";

import {
  BASE,
  MARKET,
  PHONE,
  WIDE,
  WIDTHS,
  buy,
  clean,
  connect,
  eventually,
  go,
  launch,
  open,
  register,
  sameAsBook,
  state,
} from "./browser.mjs";
import { busyMarket } from "./busy_market.mjs";

const AXE = fs.readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const VIEWS = {
  market: MARKET,
  markets: "/ui/",
  event: "/ui/event/harbour-city-mayor-2027",
  portfolio: "/ui/portfolio",
  engine: "/ui/engine",
};
/** A line of each view that only stands there when its content has come. */
const CONTENT = {
  markets: ".link-row .spark path",
  market: "price-chart path.area",
  event: "event-chart path.line",
  portfolio: "account-tables",
  engine: ".engine .card",
};
const SIZES = { wide: WIDE, middle: WIDTHS[1], phone: PHONE };

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("a browser is sent from / to the page, a client gets OK", async () => {
  const shown = await fetch(BASE, { headers: { accept: "text/html" }, redirect: "manual" });
  assert.equal(shown.headers.get("location"), "/ui/");
  assert.equal(await (await fetch(BASE)).json(), "OK");
});

test("the joined script and style sheet have every module and every style sheet of the page", async () => {
  const folder = new URL("../../gateway/ui/", import.meta.url);
  const present = ["lib", "components"].flatMap((name) => fs.readdirSync(new URL(name, folder)).map((file) => `${name}/${file}`));
  const joined = await Promise.all(["js", "css"].map(async (kind) => (await fetch(`${BASE}/ui/joined.${kind}`)).text()));
  const listed = [...joined.join("\n").matchAll(/^(?:\/\/ (\S+\.js)|\/\* (\S+\.css) \*\/)$/gm)].map(([, script, sheet]) => script ?? sheet);
  assert.deepEqual(listed.sort(), [...present, "base.css", "app.js"].sort());
});

test("list, search, filter, open a market", async () => {
  const page = await open(browser);
  await go(page, "/ui/");
  await page.waitForSelector(".link-row .spark path");
  await state(page, "live");
  await page.keyboard.press("/");
  await page.keyboard.type("lindqvist");
  await eventually(
    () => page.locator(".link-row").count(),
    (rows) => rows === 1,
  );
  await page.click(".link-row a");
  await page.waitForSelector("order-ladder .level");
  assert.match(page.url(), /\/ui\/market\/harbour-city-mayor-2027-amara-lindqvist$/);
  assert.match(await page.title(), /Lindqvist/);
  await page.fill("header input[type=search]", "no market has these words");
  await page.waitForSelector("markets-view .empty");
  await clean(page);
});

test("the ladder equals GET /book of the same state, for Yes and for No", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await state(page, "live");
  await page.waitForSelector("order-ladder .level:not(.void)");
  await sameAsBook(page);
  await page.locator('.ladder-panel input[value="1"]').check({ force: true });
  await sameAsBook(page, 1);
  await clean(page);
});

test("connect the development wallet, buy, see it in the portfolio, rest an order, see it in the ladder, cancel it", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await connect(page);
  await state(page, "live");
  await page.locator('order-ticket input[value="market"]').check({ force: true });
  await page.fill("#ticket-amount", "5");
  await page.click("order-ticket .submit");
  await page.waitForSelector(".notice:has-text('Filled')");
  await page.click("account-tables [role=tab]:has-text('Positions')");
  await page.waitForSelector("account-tables td:has-text('Yes')");

  await page.locator('order-ticket input[value="limit"]').check({ force: true });
  await buy(page, { cents: 2, shares: 7 });
  await page.click("account-tables [role=tab]:has-text('Open orders')");
  await page.waitForSelector("account-tables td:has-text('2.0¢')");
  await page.focus(".ladder");
  await page.keyboard.press("End");
  await page.waitForSelector(".level .own:has-text('◉ 7')");

  await page.click("nav a:has-text('Portfolio')");
  await page.waitForSelector("portfolio-view td:has-text('2.0¢')");
  await page.click("portfolio-view td button:has-text('Cancel')");
  await page.waitForSelector("portfolio-view .empty:has-text('No open orders')");
  await page.waitForSelector(".notice:has-text('Order cancelled.')");
  await page.click("portfolio-view [role=tab]:has-text('Positions')");
  await page.waitForSelector("portfolio-view td:has-text('Yes')");
  await clean(page);
});

test("a fill by another wallet arrives without a reload", async () => {
  const [mine, theirs] = await Promise.all([open(browser), open(browser)]);
  // No bot trades there.
  const market = await register("Will two wallets meet?");
  await Promise.all([go(mine, market), go(theirs, market)]);
  await connect(mine, 2);
  await connect(theirs, 3);
  await Promise.all([state(mine, "live"), state(theirs, "live")]);
  await mine.locator("#ticket-post").check();
  await buy(mine, { cents: 40, shares: 6 });
  await theirs.waitForSelector("order-ladder .level:not(.void):has-text('40¢')");
  await theirs.locator('.ladder-panel input[value="1"]').check({ force: true });
  await buy(theirs, { cents: 60, shares: 6 });
  await mine.waitForSelector(".notice:has-text('Fill: Buy')");
  await mine.click("account-tables [role=tab]:has-text('Fills')");
  await mine.waitForSelector("account-tables td:has-text('Will two wallets meet?')");
  await mine.click("account-tables td a.mono");
  await mine.waitForSelector("proof-view code:has-text('foretell audit')");
  await Promise.all([clean(mine), clean(theirs)]);
});

test("of 1,000 markets and of 1,000 levels only what is in sight is drawn", async (t) => {
  const page = await open(browser);
  await page.route("**/ui/api/catalog/events?**", async (route) => {
    const response = await route.fetch();
    const [event] = (await response.json()).filter((each) => each.markets.length > 0);
    const many = Array.from({ length: 1000 }, (_, i) => ({
      ...event.markets[0],
      question: `Question ${i}`,
      slug: `q-${i}`,
      conditionId: `0x${i}`,
    }));
    await route.fulfill({ response, json: [{ ...event, markets: many }] });
  });
  await page.route("**/ui/api/markets/summary?**", (route) => route.fulfill({ json: [] }));
  await go(page, "/ui/");
  await page.waitForSelector(".link-row a:has-text('Question 0')");
  assert.ok((await page.locator(".link-row").count()) < 60);
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
  await page.waitForSelector(".link-row a:has-text('Question 999')");
  assert.ok((await page.locator(".link-row").count()) < 60);
  await clean(page);

  const listed = (await (await fetch(`${BASE}/sampling-markets`)).json()).data.find((market) => MARKET.endsWith(market.slug));
  const busy = await busyMarket(BASE, { yes: listed.assets_ids[0], no: listed.assets_ids[1], market: listed.condition_id }, 100);
  t.after(() => busy.close());
  const deep = await open(browser);
  await deep.goto(busy.address + MARKET);
  await eventually(
    () => deep.evaluate(() => Number(document.querySelector(".ladder")?.getAttribute("aria-rowcount"))),
    (rows) => rows > 1000,
  );
  assert.ok((await deep.locator(".level").count()) < 60);
  await deep.context().close();
});

test("reduced motion stops every animation, dark mode changes the colours, the keyboard reaches the ticket", async () => {
  const page = await open(browser, { reducedMotion: "reduce", colorScheme: "dark" });
  await go(page, MARKET);
  await state(page, "live");
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".dot"), "::after").animationName), "none");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.click("button[aria-label*='light and dark']");
  assert.notEqual(await background(), dark);
  await page.waitForSelector("order-ladder .level:not(.void)");
  await page.focus(".ladder");
  await page.keyboard.press("ArrowUp");
  await page.waitForSelector(".level.active");
  await page.keyboard.press("Enter");
  const chosen = (await page.locator(".level.active .price").textContent()).replace("¢", "");
  assert.equal(await page.inputValue("#ticket-price"), chosen);
  await page.keyboard.press("s");
  await page.waitForSelector('order-ticket[data-side="SELL"]');
  assert.equal(await page.evaluate(() => document.activeElement.id), "ticket-shares");
  await clean(page);
});

test("on a phone nothing is wider than the screen, and the ticket is a sheet", async () => {
  const page = await open(browser, { viewport: PHONE, hasTouch: true });
  for (const [name, path] of Object.entries(VIEWS)) {
    await go(page, path);
    await page.waitForSelector(CONTENT[name]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} px too wide`);
  }
  await go(page, MARKET);
  for (const tab of await page.locator(".details [role=tab]").all()) {
    await tab.click();
    await page.waitForSelector(".details .tab-panel > :not(:has(.skeleton))");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${await tab.textContent()} is ${wide} px too wide`);
  }
  await page.click(".trade-bar .no");
  await page.waitForSelector(".ticket-panel.open");
  await page.click(".sheet-close");
  await page.waitForSelector(".ticket-panel", { state: "hidden" });
  await clean(page);
});

for (const scheme of ["light", "dark"]) {
  test(`axe finds no violation, ${scheme}`, async () => {
    const page = await open(browser, { colorScheme: scheme, reducedMotion: "reduce" });
    await go(page, MARKET);
    await connect(page);
    const found = [];
    for (const [name, path] of Object.entries(VIEWS)) {
      // A development wallet stays connected.
      if (name !== "market") await go(page, path);
      await page.waitForSelector(CONTENT[name]);
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => window.axe.run());
      const lines = violations.map(
        ({ id, nodes }) =>
          `${name}: ${id} ${nodes.map((node) => `${node.html.slice(0, 160)} ${node.any.map((check) => check.message)}`).join(" | ")}`,
      );
      found.push(...lines);
    }
    assert.deepEqual(found, []);
    await clean(page);
  });
}

test("screenshots", { skip: !process.env.SCREENSHOTS }, async () => {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(browser, { viewport, colorScheme, reducedMotion: "reduce" });
      for (const [name, path] of Object.entries(VIEWS)) {
        await go(page, path);
        await page.waitForSelector(CONTENT[name]);
        if (name === "market" || name === "portfolio") {
          if (name === "market") await connect(page);
          await state(page, "live");
        }
        if (name === "market") await page.waitForSelector(".trades td");
        if (name === "portfolio") await page.click("[role=tab]:has-text('Positions')");
        if (name === "engine")
          await eventually(
            () => page.evaluate(() => document.querySelector("engine-view").samples.length),
            (samples) => samples > 12,
          );
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${size}-${colorScheme}.png` });
      }
      await page.context().close();
    }
  }
});
