// Each view of the operator's page: what it shows, on a phone, and to a screen reader.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, test } from "node:test";

import { ADMIN, OPERATOR, RUN, act, adminToken, desk, panel, row, view } from "./admin.mjs";
import { PHONE, WIDTHS, clean, eventually, go, launch } from "./browser.mjs";

const AXE = fs.readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const VIEWS = ["Markets", "Review", "Users", "Money", "Exchange", "Operators", "Log"];
const QUESTION = "Amara Lindqvist";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** What an operator's read answers. */
const read = async (path) => {
  const answer = await fetch(OPERATOR + path, { headers: { authorization: `Bearer ${await adminToken()}` } });
  assert.equal(answer.status, 200, path);
  return answer.json();
};

test("it has the site's name and the page's look", async () => {
  const page = await desk(browser);
  await eventually(
    () => page.title(),
    (title) => title === "Markets: Foretell operators",
  );
  await page.getByRole("link", { name: "Foretell Operators" }).waitFor();
  const look = () =>
    page.evaluate(() => {
      const of = (selector) => getComputedStyle(document.querySelector(selector));
      return [of("body").fontFamily, of("body").backgroundColor, of(".top").height, of(".top").backgroundColor, of("button").borderRadius];
    });
  const here = await look();
  await go(page, "/ui/");
  await page.waitForSelector(".link-row");
  assert.deepEqual(here, await look());
  await clean(page);
});

test("markets are found by words and state, with price, volume, open interest and what is due", async () => {
  const page = await desk(browser);
  await page.getByRole("searchbox", { name: "Search markets" }).fill("lindqvist mayor");
  await eventually(
    () =>
      page
        .getByRole("region", { name: /^Markets/ })
        .locator("tbody tr")
        .count(),
    (rows) => rows === 1,
  );
  const figures = await eventually(
    async () => {
      const { markets } = await read("/markets/figures?search=lindqvist%20mayor");
      const text = await row(page, QUESTION).innerText();
      return { text, market: markets[0] };
    },
    ({ text, market }) => text.includes("trading") && market.volume > 0,
  );
  assert.match(figures.text, /Yes \d+(\.\d)?¢/);
  const amounts = figures.text.match(/\$[\d,]+\.\d\d/g).map((amount) => Number(amount.replace(/[$,]/g, "")));
  assert.ok(amounts.length === 2 && amounts[0] > 0 && amounts[0] < Number(figures.market.volume) + 0.01, figures.text);
  await page.getByRole("combobox", { name: "State", exact: true }).selectOption("closed");
  await page.getByText("No market matches.").waitFor();
  await page.getByRole("combobox", { name: "State", exact: true }).selectOption("trading");
  await row(page, QUESTION)
    .getByText(/closes in|–/)
    .waitFor();
  await clean(page);
});

test("a user is found by wallet, with balances, orders and fills", async () => {
  const page = await desk(browser);
  const { accounts } = await read("/accounts?limit=500");
  const account = accounts.find((it) => it.live_orders > 0);
  await view(page, "Users");
  await page.getByRole("searchbox", { name: "Find a wallet" }).fill(account.wallet.slice(0, 12));
  const short = `${account.wallet.slice(0, 6)}…${account.wallet.slice(-4)}`;
  await eventually(
    () =>
      page
        .getByRole("region", { name: /^Users/ })
        .locator("tbody tr")
        .count(),
    (rows) => rows === 1,
  );
  await page.getByRole("link", { name: short }).click();
  await page.getByRole("heading", { name: account.wallet }).waitFor();
  await page.locator(".card", { hasText: "Free" }).getByText("$").waitFor();
  const orders = panel(page, /^Resting orders/);
  await orders.locator("tbody tr").first().waitFor();
  assert.match(await orders.locator("tbody tr").first().innerText(), /(Buy|Sell)[^]*¢/);
  const fills = panel(page, /fills|Fills/);
  await fills.locator("tbody tr").first().waitFor();
  assert.match(await fills.locator("tbody tr").first().innerText(), /(Buy|Sell)[^]*¢[^]*\$/);
  await clean(page);
});

test("figures of the exchange and of each process", async () => {
  const page = await desk(browser);
  await view(page, "Exchange");
  for (const name of ["Commands", "Markets", "Accounts", "Resting orders", "Deposited", "Collected fees"])
    assert.match(await page.locator(".card", { hasText: name }).first().innerText(), /\d/, name);
  for (const name of ["supervisor", "engine", "gateway-1", "catalog-sync", "demo-bots"])
    assert.match(await row(page, name).innerText(), /\d (s|min|h)[^]*\d\.\d s[^]*\d%[^]*MB/, name);
  await row(page, "engine")
    .first()
    .getByText(/queue \d+\/\d+/)
    .waitFor();
  await clean(page);
});

test("the log has all of the journal, also after a restart, and is filtered by person, act and market", async () => {
  const page = await desk(browser);
  await page.getByRole("searchbox", { name: "Search markets" }).fill("lindqvist mayor");
  await eventually(
    () =>
      page
        .getByRole("region", { name: /^Markets/ })
        .locator("tbody tr")
        .count(),
    (rows) => rows === 1,
  );
  await act(page, row(page, QUESTION), "Hold", { Reason: `a look in ${RUN}` });
  await act(page, row(page, QUESTION), "Resume", { Reason: `fine in ${RUN}` });
  const { processes } = await read("/status");
  process.kill(processes.find((it) => it.name === "gateway-1").pid, "SIGKILL");
  await eventually(
    () =>
      fetch(`${OPERATOR}/readyz`).then(
        (answer) => answer.status,
        () => 0,
      ),
    (status) => status === 200,
  );
  await view(page, "Log");
  await row(page, `fine in ${RUN}`).getByText("resumed it").waitFor();
  await page.getByRole("combobox", { name: "Act", exact: true }).selectOption("held it");
  const held = row(page, `a look in ${RUN}`);
  await held.getByText("admin").first().waitFor();
  await held.getByRole("link", { name: new RegExp(QUESTION) }).waitFor();
  await eventually(
    () => row(page, `fine in ${RUN}`).count(),
    (rows) => rows === 0,
  );
  await page.getByRole("combobox", { name: "Act", exact: true }).selectOption("Every act");
  await page.getByRole("combobox", { name: "Market" }).fill("Lindqvist");
  const question = await page.locator("datalist option").first().getAttribute("value");
  await page.getByRole("combobox", { name: "Market" }).fill(question);
  const rows = page.getByRole("region", { name: /^Acts/ }).locator("tbody tr");
  await eventually(
    () => rows.allInnerTexts(),
    (texts) => texts.length > 2 && texts.every((text) => text.includes(question)),
  );
  await row(page, "created the market").waitFor();
  await page.getByText("This is the beginning of the journal.").waitFor();
  await page.getByRole("combobox", { name: "Person", exact: true }).selectOption("sync");
  await page.getByText("Nobody did such a thing.").or(row(page, "sync").first()).waitFor();
  await clean(page, /status of 50|Failed to fetch|ERR_|WebSocket/);
});

test("a market's latest acts are searched on towards the beginning, and it says how far", async () => {
  const page = await desk(browser);
  let asked = 0;
  await page.route("**/acts?**", (route) => {
    asked += 1;
    return asked > 20 ? route.continue() : route.fulfill({ json: { acts: [], next: 10_000_000 - asked } });
  });
  await page.getByRole("link", { name: /Lindqvist/ }).click();
  const latest = panel(page, /^Latest acts on it/);
  await latest.getByText("Nobody did such a thing since no. 9,999,980.").waitFor();
  await page.getByText("Searched back to no. 9,999,980.").waitFor();
  assert.equal(asked, 20);
  await page.getByRole("button", { name: "Older acts" }).click();
  await latest.getByText("created the market").waitFor();
  await page.getByText("This is the beginning of the journal.").waitFor();
  await clean(page);
});

test("an older answer does not stand in the place of a newer one", async () => {
  const page = await desk(browser);
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  let asked = 0;
  await page.route("**/status", async (route) => {
    asked += 1;
    const fees = String(100 * asked);
    const response = await route.fetch();
    const answer = await response.json();
    if (fees === "100") await gate;
    await route.fulfill({ response, json: { ...answer, exchange: { ...answer.exchange, fees } } });
  });
  const older = page.waitForResponse("**/status");
  await page.getByRole("link", { name: "Exchange", exact: true }).click();
  await eventually(
    () => asked,
    (count) => count === 1,
  );
  await page.getByRole("button", { name: "Refresh" }).click();
  const fees = page.locator(".card", { hasText: "Collected fees" }).locator("strong");
  await fees.filter({ hasText: "$200.00" }).waitFor();
  release();
  await older;
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  assert.equal(await fees.textContent(), "$200.00");
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await clean(page);
});

test("event groups go on beyond a page, and a new market may be a question of each", async () => {
  const page = await desk(browser);
  const group = (number) => ({
    event_id: number,
    title: `Group ${number}`,
    slug: "",
    ticker: "",
    description: "",
    tags: [],
    own: true,
    questions: [],
  });
  const groups = Array.from({ length: 120 }, (_, i) => group(119 - i));
  await page.route("**/events?**", (route) => {
    const query = new URL(route.request().url()).searchParams;
    const older = groups.filter((each) => each.event_id < Number(query.get("before") ?? Infinity));
    // As where few of many groups are the operator's own: a page is shorter than it may be.
    const rows = older.slice(0, Math.min(50, Number(query.get("limit"))));
    const next = rows.length < older.length ? rows.at(-1).event_id : undefined;
    return route.fulfill({ json: { events: rows, next } });
  });
  await view(page, "Markets");
  const list = panel(page, "Event groups");
  await list.getByText("Group 119", { exact: true }).waitFor();
  const pager = page.locator(".pager", { hasText: "1 to 50" });
  await pager.getByRole("button", { name: "Older" }).click();
  await list.getByText("Group 69", { exact: true }).waitFor();
  await page.locator(".pager", { hasText: "51 to 100" }).getByRole("button", { name: "Older" }).click();
  await list.getByText("Group 0", { exact: true }).waitFor();
  await page.locator(".pager", { hasText: "101 to 120" }).getByRole("button", { name: "Newer" }).click();
  await list.getByText("Group 69", { exact: true }).waitFor();
  await page.getByRole("link", { name: "New market" }).click();
  // By role: the list that is left has "Event groups" as its label.
  const choice = page.getByRole("combobox", { name: "Event group" });
  await choice.waitFor();
  assert.equal(await choice.locator("option").count(), 121);
  await choice.selectOption({ label: "Group 3" });
  await clean(page);
});

test("no table is cut on a phone", async () => {
  const page = await desk(browser, undefined, { viewport: PHONE, hasTouch: true });
  const check = async (name) => {
    const wide = await page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll("main *")]
        .filter(
          (element) =>
            element.getBoundingClientRect().right > innerWidth + 1 ||
            (element.tagName === "TABLE" && element.scrollWidth > element.clientWidth + 1),
        )
        .map((element) => `${element.tagName}.${element.className} ${element.textContent.slice(0, 60)}`),
    );
    assert.deepEqual(wide, [], name);
  };
  for (const name of VIEWS) {
    await view(page, name);
    await check(name);
  }
  await view(page, "Markets");
  await page.getByRole("link", { name: /Lindqvist/ }).click();
  await panel(page, "What comes next").waitFor();
  await check("a market");
  await page.goto(`${ADMIN}#user/${(await read("/accounts")).accounts.at(-1).wallet}`);
  await panel(page, /^Resting orders/).waitFor();
  await check("a user");
  await page.goto(`${ADMIN}#new`);
  await page.getByRole("heading", { name: "New market" }).waitFor();
  await check("the words of a new market");
  await page.getByLabel("Question").fill("Will it rain in Harbour City on the first day of May 2027?");
  await page.getByLabel("Rules").fill("0x".padEnd(120, "7"));
  await page.getByLabel("Topics").fill("Weather, Harbour City, The first days of months");
  await page.getByRole("button", { name: "Next" }).click();
  await check("its trading");
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("article", { name: "Preview of its page" }).waitFor();
  await check("its preview");
  await clean(page);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds no violation, ${colorScheme}`, async () => {
    const page = await desk(browser, undefined, { colorScheme, reducedMotion: "reduce" });
    const found = [];
    const check = async (name) => {
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => window.axe.run());
      found.push(
        ...violations.map(
          ({ id, nodes }) =>
            `${name}: ${id} ${nodes.map((node) => `${node.html.slice(0, 160)} ${node.any.map((it) => it.message)}`).join(" | ")}`,
        ),
      );
    };
    for (const name of VIEWS) {
      await view(page, name);
      await check(name);
    }
    await view(page, "Markets");
    await page
      .getByRole("link", { name: /Lindqvist/ })
      .first()
      .click();
    await panel(page, "What comes next").waitFor();
    await check("a market");
    await panel(page, "How it trades").getByRole("button", { name: "Change the clock" }).click();
    await check("the dialog of an act");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.goto(`${ADMIN}#user/${(await read("/accounts")).accounts.at(-1).wallet}`);
    await panel(page, /^Resting orders/).waitFor();
    await check("a user");
    await page.goto(`${ADMIN}#new`);
    await page.getByRole("heading", { name: "New market" }).waitFor();
    await check("a new market");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Your token").waitFor();
    await check("signing in");
    assert.deepEqual(found, []);
    await clean(page);
  });
}

test("screenshots of the operator's page", { skip: !process.env.SCREENSHOTS }, async () => {
  const wallet = (await read("/accounts")).accounts.at(-1).wallet;
  const { markets } = await read("/markets/figures?search=lindqvist%20mayor");
  const pages = {
    ...Object.fromEntries(VIEWS.map((name) => [name.toLowerCase(), name.toLowerCase()])),
    market: `market/${markets[0].conditionId}`,
    user: `user/${wallet}`,
    new: "new",
  };
  for (const { width } of WIDTHS) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await desk(browser, undefined, { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" });
      for (const [name, hash] of Object.entries(pages)) {
        await page.goto(`${ADMIN}#${hash}`);
        await page.locator("main .stack, main form").first().waitFor();
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/admin-${name}-${width}-${colorScheme}.png` });
      }
      await page.context().close();
    }
  }
});
