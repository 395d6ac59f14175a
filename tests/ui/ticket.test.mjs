// The ticket: what it says while one types, what it never signs, what it tells afterwards.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  MARKET,
  PHONE,
  WIDTHS,
  buy,
  clean,
  connect,
  eventually,
  go,
  isPhone,
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

const submit = (page) => page.locator("order-ticket .submit");
/** The text of the button, once it is this. */
const says = (page, wanted) =>
  eventually(
    () => submit(page).textContent(),
    (text) => wanted.test(text),
  );
const figure = (page, name) => page.locator(`order-ticket .figures > div:has(dt:text-is("${name}")) dd`).textContent();

/** A market without bots, with an ask of 40¢ for 100 shares by another wallet. */
async function quiet(terms) {
  const market = await register(`Is this book quiet? ${Date.now()}`, terms);
  const maker = await open(browser);
  await go(maker, market);
  await connect(maker, 3);
  await state(maker, "live");
  await maker.locator('order-ticket input[value="1"]').check({ force: true });
  await buy(maker, { cents: 60, shares: 100 });
  await maker.waitForSelector(".notice:has-text('Order rests')");
  await clean(maker);
  return market;
}

test("the button says why it is off while one types, and nothing invalid is signed", async () => {
  const page = await open(browser);
  let signed = 0;
  await page.route("**/ui/wallet", (route) => {
    if (route.request().postData().includes("Order")) signed += 1;
    return route.continue();
  });
  await go(page, await quiet());
  await connect(page, 0);
  await state(page, "live");
  for (const [price, shares, reason] of [
    ["150", "10", /^Price: 1¢ to 99¢$/],
    ["0", "10", /^Enter a price$/],
    ["40.5", "10", /^Price: steps of 1¢$/],
    ["40", "2", /^At least 5 shares$/],
    ["40", "10.005", /^Shares: two decimals$/],
    ["40", "112500", /^You have \$[\d,.]+ free$/],
    ["40", "", /^Enter a number of shares$/],
  ]) {
    await page.fill("#ticket-price", price);
    await page.fill("#ticket-shares", shares);
    await says(page, reason);
    assert.ok(await submit(page).isDisabled(), String(reason));
    await page.press("#ticket-shares", "Enter");
  }
  await page.fill("#ticket-shares", "10");
  await page.locator("#ticket-post").check();
  await says(page, /^Post only: would trade now$/);
  await page.locator("#ticket-post").uncheck();
  await page.selectOption("#ticket-type", "GTD");
  await page.fill("#ticket-expires", "2020-01-01T00:00");
  await says(page, /^Expires at least/);
  await page.selectOption("#ticket-type", "FOK");
  await page.fill("#ticket-shares", "500");
  await says(page, /^The book cannot fill this now$/);
  await page.fill("#ticket-shares", "2");
  await says(page, /^At least \$1\.00 to trade now$/);
  await page.selectOption("#ticket-type", "GTC");
  await page.locator('order-ticket input[value="SELL"]').check({ force: true });
  await page.fill("#ticket-shares", "10");
  await says(page, /^You have 0 free$/);
  assert.equal(signed, 0);
  await page.locator('order-ticket input[value="BUY"]').check({ force: true });
  await page.waitForSelector("order-ticket .submit:enabled");
  await clean(page);
});

test("a rejection is told in the page's words, with the exchange's text below them", async () => {
  const page = await open(browser);
  await go(page, MARKET);
  await connect(page, 1);
  await state(page, "live");
  const text = "order 0x12 is invalid. Size (4) lower than the minimum: 5";
  await page.route("**/order", (route) =>
    route.fulfill({ status: 400, headers: { "x-error-code": "size_below_minimum" }, json: { error: text } }),
  );
  await buy(page, { cents: 2, shares: 6 });
  await page.waitForSelector("order-ticket .problem p:has-text('smaller than this market')");
  for (const viewport of WIDTHS) {
    await page.setViewportSize(viewport);
    if (isPhone(viewport)) await page.click(".trade-bar .yes");
    const answer = page.locator("order-ticket .problem code");
    assert.ok(await answer.isVisible(), `${viewport.width} px`);
    assert.equal(await answer.textContent(), text);
  }
  await page.unroute("**/order");
  await clean(page, /status of 400/);
});

test("a notice covers nothing that it speaks of", async () => {
  for (const viewport of WIDTHS) {
    const { width } = viewport;
    const page = await open(browser, { viewport });
    await singleModules(page);
    await go(page, MARKET);
    await page.waitForSelector("trade-list .trades td");
    await page.evaluate(async () => {
      const { set } = await import("/ui/lib/store.js");
      set("notice", "Filled 50 Yes: $19.62 debited, 12¢ of it fee. ".repeat(2));
    });
    const box = await page.locator(".notice").boundingBox();
    const bar = await page.locator("header.top").boundingBox();
    assert.ok(box.y >= bar.y && box.y + box.height <= bar.y + bar.height, `${width} px: ${JSON.stringify(box)}`);
    assert.ok(box.x >= 0 && box.x + box.width <= width);
    await clean(page);
  }
});

test("outcome first: buttons with prices in the ticket, on rows and on the phone's bar", async () => {
  const market = await quiet();
  const page = await open(browser);
  await go(page, market);
  await state(page, "live");
  await page.waitForSelector("order-ticket .outcomes label:has-text('Buy Yes 40¢')");
  await page.waitForSelector("order-ticket .outcomes label:has-text('Buy No –')");
  await page.locator('order-ticket input[value="SELL"]').check({ force: true });
  await page.waitForSelector("order-ticket .outcomes label:has-text('Sell No 60¢')");
  await go(page, "/ui/");
  await page.fill("header input[type=search]", "lindqvist");
  const row = page.locator(".list-row.link-row", { hasText: "Lindqvist" }).first();
  await row.locator("button.outcome.no:has-text('¢')").click();
  await page.waitForURL(/lindqvist/);
  await page.waitForSelector('order-ticket .outcomes input[value="1"]:checked', { state: "attached" });
  await page.waitForSelector('order-ticket[data-side="BUY"]');
  await clean(page);

  const phone = await open(browser, { viewport: PHONE, hasTouch: true });
  await go(phone, market);
  await state(phone, "live");
  await phone.click(".trade-bar button.yes:has-text('Buy Yes'):has-text('40¢')");
  await phone.waitForSelector(".ticket-panel.open .sheet-head strong:has-text('Is this book quiet?')");
  await phone.waitForSelector(".ticket-panel.open .outcomes label:has-text('Buy Yes 40¢')");
  await clean(phone);
});

test("of an order larger than the book a FAK fills a part, a FOK nothing, for buying and for selling", async () => {
  const page = await open(browser);
  await go(page, await quiet());
  await connect(page, 2);
  await state(page, "live");
  await buy(page, { cents: 20, shares: 50 });
  await page.waitForSelector(".notice:has-text('Order rests')");
  await page.locator('order-ticket input[value="market"]').check({ force: true });
  const check = (side) => page.locator(`order-ticket input[value="${side}"]`).check({ force: true });
  for (const [side, type, text] of [
    ["BUY", "FAK", "Only $40.00 is on offer at this price. The rest of your $900.00 is not spent."],
    ["BUY", "FOK", "Only $40.00 is on offer at this price. Fill or kill spends all of your $900.00 or nothing."],
    ["SELL", "FAK", "Only 50 shares have buyers at this price. The rest of your 900 is not sold."],
    ["SELL", "FOK", "Only 50 shares have buyers at this price. Fill or kill sells all of your 900 or nothing."],
  ]) {
    await check(side);
    await page.selectOption("#ticket-type", type);
    await page.fill(side === "BUY" ? "#ticket-amount" : "#ticket-shares", "900");
    await page.waitForSelector(`order-ticket .offer:text-is("${text}")`);
  }
  await page.click("account-tables button:has-text('Cancel all in this market')");
  await page.waitForSelector("order-ticket .offer:text-is('Nobody buys at this price.')");
  await clean(page);
});

/** Four percent of takers, highest at 50¢. */
const FEE = { fee: { rate_ppm: 40_000, exponent: 1 } };

test("total is cost and fee, the gain stands with its percent, buttons step and add, and a fill says what was debited", async () => {
  const market = await quiet(FEE);
  const taker = await open(browser);
  await go(taker, market);
  await connect(taker, 0);
  await state(taker, "live");
  await taker.fill("#ticket-price", "40");
  await taker.fill("#ticket-shares", "50");
  await eventually(
    () => figure(taker, "To win"),
    (text) => text === "$50.00 (+144%)",
  );
  assert.equal(await figure(taker, "Cost"), "$20.00");
  assert.equal(await figure(taker, "Fee"), "48¢");
  assert.equal(await figure(taker, "Total"), "$20.48");
  await taker.click("order-ticket button[aria-label='More Limit price']");
  assert.equal(await taker.inputValue("#ticket-price"), "41");
  await taker.click("order-ticket button[aria-label='Less Limit price']");
  await taker.click("order-ticket button[aria-label='More Shares']");
  assert.equal(await taker.inputValue("#ticket-shares"), "60");
  await taker.click("order-ticket .line button:has-text('+$10')");
  assert.equal(await taker.inputValue("#ticket-shares"), "85");
  await taker.click("order-ticket .line button:has-text('+$100')");
  assert.equal(await taker.inputValue("#ticket-shares"), "335");
  await taker.fill("#ticket-shares", "20");
  await submit(taker).click();
  await taker.waitForSelector(".notice:has-text('Filled 20 Yes: $8.19 debited, 19.20¢ of it fee.')");
  await clean(taker);
});

test("a market of the list has its present fee when the ticket opens, and follows it", async () => {
  const market = await quiet(FEE);
  const page = await open(browser);
  await page.route("**/ui/api/catalog/events?**", async (route) => {
    const response = await route.fetch();
    const events = await response.json();
    for (const each of events.flatMap((event) => event.markets)) each.feeSchedule = { rate: 0, exponent: 0 };
    await route.fulfill({ response, json: events });
  });
  await go(page, "/ui/");
  await page.fill("header input[type=search]", "Is this book quiet?");
  await page.click(`.list-row a[href="${market}"]`);
  const first = await eventually(
    () => figure(page, "Fee"),
    (text) => text !== "–",
  );
  assert.equal(first, "48¢");
  await state(page, "live");
  // Without an answer to reads only the stream tells of a change.
  await page.route("**/clob-markets/**", () => {});
  await operate("market", "fee", market.split("/").at(-1), "20000", "1", "--reason", "a lower fee");
  await eventually(
    () => figure(page, "Fee"),
    (text) => text === "24¢",
  );
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await clean(page);
});

test("Max leaves room for the fee: the exchange takes it, and a share more is too much", async () => {
  const market = await quiet(FEE);
  const taker = await open(browser);
  await go(taker, market);
  await connect(taker, 1);
  await state(taker, "live");
  await taker.fill("#ticket-price", "40");
  await taker.click("order-ticket .line button:has-text('Max')");
  await taker.waitForSelector("order-ticket .submit:enabled");
  const most = Number(await taker.inputValue("#ticket-shares"));
  const free = Number((await taker.locator("order-ticket .available").textContent()).replace(/[^\d.]/g, ""));
  // A share costs 40¢ and 0.96¢ of fee.
  assert.ok(most > (free - 1) / 0.4096 && most <= free / 0.4096, `${most} of ${free}`);
  await taker.fill("#ticket-shares", String(most + 1));
  await says(taker, /^You have \$[\d,.]+ free$/);
  await taker.fill("#ticket-shares", String(most));
  await submit(taker).click();
  await taker.waitForSelector(".notice:has-text('Filled 100 Yes'), .notice:has-text('Order rests')");
  await taker.click("account-tables button:has-text('Cancel all in this market')");
  await taker.waitForSelector(".notice:has-text('cancelled')");
  await clean(taker);
});

test("orders that never rest give two decimals and take four, at no worse a price than typed", async () => {
  const page = await open(browser);
  await go(page, "/ui/");
  const wrong = await page.evaluate(async () => {
    const { amounts } = await import("/ui/lib/quote.js");
    const found = [];
    for (const type of ["FOK", "FAK"]) {
      for (const tick of [10_000n, 1_000n, 100n]) {
        for (let price = tick; price < 1_000_000n; price += 37n * tick) {
          for (const shares of [10_000n, 1_230_000n, 10_010_000n, 777_770_000n]) {
            for (const side of ["BUY", "SELL"]) {
              const { makerAmount, takerAmount } = amounts({ side, type, price, shares });
              if (makerAmount === 0n || takerAmount === 0n) continue;
              const [given, taken] = [makerAmount % 10_000n, takerAmount % 100n];
              // A sale is never below its price; a buy is never more than a tick above it.
              const worse =
                side === "BUY" ? makerAmount * 1_000_000n >= (price + tick) * takerAmount : takerAmount * 1_000_000n < price * makerAmount;
              const costs = side === "BUY" && makerAmount > (shares * price) / 1_000_000n;
              if (given || taken || costs || (worse && shares > 1_000_000n))
                found.push([side, type, price, shares, makerAmount, takerAmount].join());
            }
          }
        }
      }
    }
    return found;
  });
  assert.deepEqual(wrong, []);
  await clean(page);
});
