// A bad network: the page says what is going on, loses nothing, recovers alone.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { MARKET, buy, clean, connect, eventually, go, launch, open, operate, sameAsBook, state } from "./browser.mjs";

/** What Chromium itself logs about the faults of these tests. */
const FAULTS = /WebSocket|Failed to load resource/;
const READS = /\/(ui\/api\/|book\?|prices-history|markets\/|clob-markets\/)/;
/** A book that the bots leave alone while a test looks at it. */
const QUIET = "/ui/market/cup-final-2027-lanterns-millers";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const trouble = (page, kind) => page.waitForSelector(`.trouble[data-kind="${kind}"]:not([hidden])`);
const calm = (page) => page.waitForSelector(".trouble", { state: "hidden" });
const busy = (status, headers = {}) => ({ status, headers, json: { error: "busy: retry later" } });

/** Refuses the first requests that fit, then lets them through. Returns what was seen. */
async function refuse(page, pattern, answers) {
  const seen = [];
  await page.route(pattern, (route) => {
    seen.push(route.request());
    const answer = answers[seen.length - 1];
    return answer ? route.fulfill(answer) : route.continue();
  });
  return seen;
}

/** Everything of a market has come. */
async function complete(page) {
  await page.waitForSelector("price-chart path.area");
  await page.waitForSelector("trade-list .trades td");
  await page.waitForSelector("event-panel .questions strong:has-text('%')");
  await page.waitForSelector(".badge-state.active");
  await sameAsBook(page);
}

test("slow answers: the page says so, shows no empty list meanwhile, and fills", async () => {
  const page = await open(browser);
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  await page.route(READS, async (route) => {
    if (!route.request().url().includes("/ui/api/catalog/markets")) await gate;
    await route.continue();
  });
  await go(page, MARKET);
  await trouble(page, "slow");
  await page.waitForSelector("event-panel .skeleton");
  assert.equal(await page.locator("main .empty:visible:has-text('No ')").count(), 0);
  release();
  await complete(page);
  await calm(page);
  await clean(page);
});

test("429: every read of a market waits as long as Retry-After says, then comes", async () => {
  const page = await open(browser);
  const seen = new Map();
  await page.route(READS, (route) => {
    const url = route.request().url();
    const times = [...(seen.get(url) ?? []), Date.now()];
    seen.set(url, times);
    return times.length > 1 ? route.continue() : route.fulfill(busy(429, { "retry-after": "2" }));
  });
  await go(page, MARKET);
  await trouble(page, "limited");
  await complete(page);
  await calm(page);
  for (const [url, [first, second]] of seen) assert.ok(second - first >= 1900, `${url} again after ${second - first} ms`);
  await clean(page, FAULTS);
});

test("503: the list of markets says why it waits, tries again and comes", async () => {
  const page = await open(browser);
  const seen = await refuse(page, "**/ui/api/catalog/events?**", [busy(503), busy(503), busy(425)]);
  await go(page, "/ui/");
  await page.waitForSelector(".trouble:has-text('busy: retry later')");
  assert.equal(await page.locator("markets-view .failed").count(), 0);
  await page.waitForSelector(".link-row .spark path");
  await calm(page);
  assert.ok(seen.length >= 4);
  await clean(page, FAULTS);
});

test("503 while the stream lives: what is on the screen stays and the ladder goes on", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await state(page, "live");
  await complete(page);
  await page.route(READS, (route) => route.fulfill(busy(503)));
  await page.click(".details [role=tab]:has-text('Holders')");
  await trouble(page, "unavailable");
  await sameAsBook(page);
  await page.unroute(READS);
  await page.waitForSelector("holder-list .holders");
  await calm(page);
  await clean(page, FAULTS);
});

test("429 to an order: the same order is sent again, once it may", async () => {
  const page = await open(browser);
  await go(page, QUIET);
  await connect(page, 1);
  await state(page, "live");
  const seen = await refuse(page, "**/order", [busy(429, { "retry-after": "1" })]);
  await buy(page, { cents: 1, shares: 11 });
  await trouble(page, "limited");
  await page.waitForSelector(".notice:has-text('Order rests')");
  assert.equal(seen.length, 2);
  assert.equal(seen[0].postData(), seen[1].postData());
  await cancelTheOrder(page, 11);
  await clean(page, FAULTS);
});

test("an order whose answer is lost is sent again and rests once", async () => {
  const page = await open(browser);
  await go(page, QUIET);
  await connect(page, 1);
  await state(page, "live");
  let lost = false;
  await page.route("**/order", async (route) => {
    if (lost || route.request().method() !== "POST") return route.continue();
    lost = true;
    await route.fetch();
    return route.abort("connectionreset");
  });
  await buy(page, { cents: 1, shares: 12 });
  await trouble(page, "silent");
  await page.waitForSelector(".notice:has-text('Order rests')");
  await cancelTheOrder(page, 12);
  await clean(page, FAULTS);
});

test("the gateway dies under an order: it is placed when the gateway is back", async () => {
  const page = await open(browser);
  await go(page, QUIET);
  await connect(page, 1);
  await state(page, "live");
  let killed = false;
  await page.route("**/order", async (route) => {
    if (!killed) {
      killed = true;
      const { gateway } = await operate("status");
      process.kill(gateway.pid, "SIGKILL");
    }
    await route.continue();
  });
  await buy(page, { cents: 1, shares: 13 });
  await page.waitForSelector(".notice:has-text('Order rests')");
  await state(page, "live");
  await cancelTheOrder(page, 13);
  await clean(page, FAULTS);
});

test("an order that gets no answer at all: the ticket says that the outcome is open", async () => {
  const page = await open(browser);
  await go(page, QUIET);
  await connect(page, 1);
  await state(page, "live");
  await page.clock.install();
  await page.route("**/order", (route) => route.abort("connectionrefused"));
  await buy(page, { cents: 1, shares: 14 });
  await eventually(
    async () => {
      // In small steps: a clock far ahead of the exchange makes the requests of the session invalid.
      await page.clock.runFor(1_000);
      return page.locator("order-ticket form .problem").textContent();
    },
    (text) => /may have been carried out/.test(text),
  );
  await page.waitForSelector("order-ticket .submit:enabled");
  await clean(page, FAULTS);
});

/** Sees exactly one open order of this many shares, and cancels it although the first try gets no answer. */
async function cancelTheOrder(page, shares) {
  const row = page.locator(`account-tables tr:has-text('1.0¢'):has(td.num:text-is("${shares}.00"))`);
  await row.first().waitFor();
  assert.equal(await row.count(), 1);
  let refused = false;
  await page.unroute("**/order");
  await page.route("**/order", (route) => {
    if (refused) return route.continue();
    refused = true;
    return route.fulfill(busy(503));
  });
  await row.locator("button").click();
  await page.waitForSelector("account-tables button:has-text('Cancelling')");
  await page.waitForSelector(".notice:has-text('Order cancelled.')");
  await eventually(
    () => row.count(),
    (rows) => rows === 0,
  );
}

test("the stream is cut and refused: the page polls, says so, and is live again without a gap", async () => {
  const page = await open(browser);
  let isOpen = true;
  const sockets = new Set();
  await page.routeWebSocket("**/ws/market", (socket) => {
    if (!isOpen) return socket.close();
    sockets.add(socket);
    return socket.connectToServer();
  });
  await go(page, MARKET);
  await state(page, "live");
  isOpen = false;
  for (const socket of sockets) await socket.close();
  await state(page, "polling");
  await sameAsBook(page);
  isOpen = true;
  await state(page, "repaired");
  await state(page, "live");
  await sameAsBook(page);
  await clean(page, FAULTS);
});

test("the gateway is killed and comes back: the page says so, resumes, and has missed nothing", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await state(page, "live");
  await sameAsBook(page);
  await page.evaluate(() => {
    window.states = [];
    const status = document.querySelector(".status");
    new MutationObserver(() => window.states.push(status.dataset.state)).observe(status, { attributeFilter: ["data-state"] });
  });
  const { gateway } = await operate("status");
  process.kill(gateway.pid, "SIGKILL");
  await eventually(
    () => page.evaluate(() => window.states),
    (states) => states.some((name) => name !== "live"),
  );
  await state(page, "live");
  const states = await page.evaluate(() => window.states);
  assert.ok(states.includes("connecting") || states.includes("offline"), String(states));
  assert.ok(states.includes("catching_up") && states.includes("repaired"), String(states));
  await sameAsBook(page);
  await clean(page, /WebSocket|Failed to load resource/);
});

test("a key that the exchange no longer knows ends the session with a word", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await page.click(".wallet-box button");
  await page.check("#remember");
  await page.locator("dialog .wallet").first().click();
  await page.waitForSelector(".wallet-box .account strong:not(:empty)");
  await page.evaluate(() => {
    const kept = JSON.parse(sessionStorage.getItem("foretell.session"));
    kept.key.secret = btoa("another secret of 32 bytes......");
    sessionStorage.setItem("foretell.session", JSON.stringify(kept));
  });
  await page.reload();
  await page.waitForSelector(".notice:has-text('Connect again')");
  await page.waitForSelector(".wallet-box .connect");
  assert.equal(await page.evaluate(() => sessionStorage.getItem("foretell.session")), null);
  await clean(page, /status of 401|WebSocket/);
});
