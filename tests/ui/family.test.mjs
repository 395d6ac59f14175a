// The page of an exchange that has the forms of Polymarket's clients.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

import { MARKET, clean, connect, launch, open, state } from "./browser.mjs";

let browser;
let exchange;
before(async () => {
  browser = await launch();
  exchange = await start();
});
after(async () => {
  await browser?.close();
  await exchange?.stop();
});

/** A demo of its own. */
async function start() {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), "family-"));
  const surfaces = ["trading", "data", "catalog", "operator"].flatMap((name) => [`--${name}-listen`, "127.0.0.1:0"]);
  const options = { cwd: folder, stdio: ["ignore", "pipe", "ignore"] };
  const up = spawn(process.env.EXCHANGE_BINARY, ["up", "--demo", "--polymarket", "--json", "--data", "data", ...surfaces], options);
  const ended = new Promise((resolve) => up.once("exit", resolve));
  const stop = async () => {
    up.kill("SIGTERM");
    await ended;
    await fs.rm(folder, { recursive: true });
  };
  for await (const line of createInterface(up.stdout)) {
    const said = JSON.parse(line);
    if (said.ready === "exchange") return { trading: said.trading, stop };
  }
  throw new Error("the exchange ended");
}

test("a market order trades, and the holders are there", async () => {
  const page = await open(browser);
  await page.goto(exchange.trading + MARKET);
  await connect(page, 0);
  await state(page, "live");
  await page.locator('order-ticket input[value="market"]').check({ force: true });
  await page.fill("#ticket-amount", "7");
  await page.click("order-ticket .submit");
  await page.waitForSelector(".notice:has-text('Filled')");
  await page.locator('order-ticket input[value="SELL"]').check({ force: true });
  await page.fill("#ticket-shares", "3.01");
  await page.click("order-ticket .submit");
  await page.waitForSelector(".notice:has-text('Filled 3.01')");
  await page.click(".details [role=tab]:has-text('Holders')");
  await page.waitForSelector("holder-list .holders li");
  assert.equal(await page.locator("holder-list .empty").count(), 0);
  await clean(page);
});
