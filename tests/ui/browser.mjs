// Chromium, pages of the exchange, and what the tests look at in them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { chromium } from "playwright-core";

export const BASE = process.env.EXCHANGE_TRADING;
export const MARKET = "/ui/market/harbour-city-mayor-2027-amara-lindqvist";
export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
/** Screens that every view fits. */
export const WIDTHS = [WIDE, { width: 1024, height: 768 }, { width: 768, height: 1024 }, PHONE];
/** Whether the ticket is a sheet there. */
export const isPhone = ({ width }) => width < 720;
/** Generous: the tests run on slow machines beside other work. */
export const PATIENCE = 30_000;

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/**
 * A page in a context of its own. Errors of its console and scripts gather in `page.problems`.
 * @param {import("playwright-core").Browser} browser
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function open(browser, options = {}) {
  const context = await browser.newContext({ viewport: WIDE, locale: "en-US", timezoneId: "UTC", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.problems = [];
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("pageerror", (error) => page.problems.push(error.message));
  return page;
}

/** Has a page load the single modules instead of the joined script: a test then imports the same modules as the page. */
export const singleModules = (page) =>
  page.route("**/ui/joined.js", (route) => route.fulfill({ contentType: "text/javascript", body: 'import "/ui/app.js";' }));

export const go = (page, path) => page.goto(BASE + path);
export const state = (page, wanted) => page.waitForSelector(`.status[data-state="${wanted}"]`);

/** Connects the development wallet of this number, counted from 0. */
export async function connect(page, number = 0) {
  await page.click(".wallet-box button");
  await page.locator("dialog .wallet").nth(number).click();
  await page.waitForSelector(".wallet-box .account strong:not(:empty)");
}

/** Fills the limit ticket and sends it. */
export async function buy(page, { cents, shares, side = "BUY" }) {
  await page.locator(`order-ticket input[value="${side}"]`).check({ force: true });
  await page.fill("#ticket-price", String(cents));
  await page.fill("#ticket-shares", String(shares));
  await page.click("order-ticket .submit");
}

/** The ladder as drawn, with the hash and sequence of the book it shows. */
export const ladder = (page) =>
  page.evaluate(() => {
    const element = document.querySelector("order-ladder");
    const cell = (row, name) => row.querySelector(`.${name}`).textContent.replace(/[¢,%]/g, "");
    const rows = [...element.querySelectorAll(".level:not(.void)")].map((row) => ({
      side: row.classList.contains("ask") ? "asks" : "bids",
      price: Number(cell(row, "price")),
      size: Number(cell(row, "size")),
    }));
    return { hash: element.dataset.hash, sequence: Number(element.dataset.sequence), rows };
  });

/** Looks until what is seen holds. */
export async function eventually(look, holds) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * Closes the page and fails if it complained.
 * @param {import("playwright-core").Page & { problems: string[] }} page
 * @param {RegExp} [allowed]
 */
export async function clean(page, allowed = /^$/) {
  await page.context().close();
  assert.deepEqual(
    page.problems.filter((text) => !allowed.test(text)),
    [],
  );
}

/** Waits until page and exchange show the same state, told by the book's hash, and compares the levels. */
export async function sameAsBook(page, outcome = 0) {
  const detail = await (await fetch(`${BASE}/sampling-markets`)).json();
  const tokens = detail.data.find((market) => page.url().endsWith(market.slug)).assets_ids;
  const seen = await eventually(
    async () => {
      const drawn = await ladder(page);
      const [yes, shown] = await Promise.all([0, outcome].map((i) => fetch(`${BASE}/book?token_id=${tokens[i]}`)));
      return { drawn, hash: (await yes.json()).hash, book: await shown.json(), sequence: Number(shown.headers.get("x-sequence")) };
    },
    ({ drawn, hash }) => drawn.hash === hash,
  );
  assert.ok(seen.drawn.sequence <= seen.sequence);
  const expected = (side) =>
    seen.book[side].map(({ price, size }) => ({ side, price: Math.round(price * 10_000) / 100, size: Number(size) }));
  const byPrice = (a, b) => b.price - a.price;
  assert.deepEqual(seen.drawn.rows.sort(byPrice), [...expected("asks"), ...expected("bids")].sort(byPrice));
}

/** Runs an operator's command and returns its JSON answer. */
export async function operate(...command) {
  const env = { ...process.env, FORETELL_OPERATOR_LISTEN: process.env.EXCHANGE_OPERATOR.replace("http://", "") };
  const options = { cwd: process.env.EXCHANGE_DATA, env };
  const { stdout } = await promisify(execFile)(
    process.env.EXCHANGE_BINARY,
    ["--json", "--data", process.env.EXCHANGE_DATA, ...command],
    options,
  );
  return JSON.parse(stdout);
}

/** Registers a market of the operator's own, with these terms. Returns its page. */
export async function register(question, terms = {}) {
  const slug = `own-${Date.now().toString(36)}`;
  const file = path.join(process.env.EXCHANGE_DATA, `${slug}.json`);
  await fs.writeFile(file, JSON.stringify([{ slug, question, ...terms }]));
  await operate("market", "register", file);
  return `/ui/market/${slug}`;
}
