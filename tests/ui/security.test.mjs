// Attacks on the page and on the development wallets, from a browser.

import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";

import { BASE, MARKET, clean, eventually, go, launch, open, singleModules, state } from "./browser.mjs";

const MARKUP = `<img src=x onerror="document.title='owned'"><b>bold</b> & "quotes"`;
const ACCOUNTS = { method: "POST", headers: { "content-type": "application/json" } };
const CALL = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_accounts" });

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("titles, rules and names full of markup are text", async () => {
  const page = await open(browser);
  const marked = (market) => Object.assign(market, { question: MARKUP, description: MARKUP, outcomes: JSON.stringify([MARKUP, "No"]) });
  await page.route("**/ui/api/catalog/events?**", async (route) => {
    const response = await route.fetch();
    const events = await response.json();
    for (const event of events) {
      Object.assign(event, { title: MARKUP, tags: [{ label: MARKUP }] });
      event.markets.forEach(marked);
    }
    await route.fulfill({ response, json: events });
  });
  await page.route("**/ui/api/site", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), name: MARKUP } });
  });
  await page.route("**/ui/api/data/holders?**", async (route) => {
    const response = await route.fetch();
    const rows = await response.json();
    for (const row of rows) for (const holder of row.holders) holder.name = MARKUP;
    await route.fulfill({ response, json: rows });
  });
  await go(page, "/ui/");
  await page.waitForSelector(".link-row a");
  assert.equal(await page.locator(".link-row a").first().textContent(), MARKUP);
  await page.locator(".link-row a").first().click();
  await page.waitForSelector("market-view h1");
  assert.equal(await page.locator("market-view h1").textContent(), MARKUP);
  await page.click(".details [role=tab]:has-text('Holders')");
  await page.waitForSelector("holder-list li, holder-list .empty");
  await page.click(".details [role=tab]:has-text('Rules')");
  await page.waitForSelector("market-facts .rules");
  assert.equal(await page.locator("main img, b").count(), 0);
  assert.notEqual(await page.title(), "owned");
  await clean(page);
});

test("an error of the exchange full of markup is text", async () => {
  const page = await open(browser);
  await page.route("**/ui/api/proof/**", (route) => route.fulfill({ status: 500, json: { error: MARKUP } }));
  await go(page, "/ui/proof/1");
  await page.waitForSelector("proof-view .failed p");
  assert.ok((await page.locator("proof-view .failed p").textContent()).includes(MARKUP));
  assert.equal(await page.locator("main img, b").count(), 0);
  await clean(page, /status of 500/);
});

test("addresses that are no address show a page", async () => {
  const page = await open(browser);
  for (const path of ["/ui/market/%E0%A4%A", "/ui/proof/%3Cscript%3E", "/ui/constructor", "/ui/market/a/b/c"]) {
    await go(page, path);
    await page.waitForSelector("main .empty");
  }
  await clean(page, /status of (400|404)/);
});

test("the policy stops inline scripts, other hosts, frames and markup as code", async () => {
  const page = await open(browser);
  const violations = [];
  await page.exposeFunction("violation", (directive) => violations.push(directive));
  await go(page, MARKET);
  await state(page, "live");
  const ran = await page.evaluate(async () => {
    document.addEventListener("securitypolicyviolation", (event) => window.violation(event.effectiveDirective));
    const inline = document.createElement("script");
    inline.textContent = "window.inlineRan = true";
    document.head.append(inline);
    const image = document.createElement("img");
    image.src = "http://127.0.0.2/x.png";
    document.body.append(image);
    const frame = document.createElement("iframe");
    frame.src = "http://127.0.0.2/";
    document.body.append(frame);
    await fetch("http://127.0.0.2/").catch(() => {});
    const text = await fetch("/ui/").then((response) => response.headers.get("content-security-policy"));
    return { inline: window.inlineRan, text };
  });
  assert.equal(ran.inline, undefined);
  assert.match(ran.text, /^default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'/);
  await eventually(
    () => violations,
    (seen) => ["script-src-elem", "img-src", "frame-src", "connect-src"].every((directive) => seen.includes(directive)),
  );
  await clean(page, /Content Security Policy/);
});

test("the page asks no other host", async () => {
  const page = await open(browser);
  const hosts = new Set();
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  for (const path of ["/ui/", MARKET, "/ui/portfolio", "/ui/engine", "/ui/proof/1"]) {
    await go(page, path);
    await page.waitForLoadState("networkidle").catch(() => {});
  }
  assert.deepEqual([...hosts], [new URL(BASE).host]);
  await clean(page, /status of (400|404)/);
});

test("a page of another origin can neither read nor use the development wallets", async (t) => {
  const foreign = http.createServer((_, response) => response.setHeader("content-type", "text/html").end("<title>foreign</title>"));
  await new Promise((resolve) => foreign.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    foreign.closeAllConnections();
    foreign.close();
  });
  const statuses = [];
  const page = await open(browser);
  page.on("response", (response) => response.url() === `${BASE}/ui/wallet` && statuses.push(response.status()));
  await page.goto(`http://127.0.0.1:${foreign.address().port}/`);
  const [read, blind, framed] = await page.evaluate(
    async ({ base, options, body }) => {
      const url = `${base}/ui/wallet`;
      const answer = await fetch(url, { ...options, body }).then(
        () => "answered",
        () => "refused",
      );
      // A request that needs no preflight: the wallet itself must refuse it.
      await fetch(url, { method: "POST", mode: "no-cors", body: new Blob([body], { type: "text/plain" }) }).catch(() => {});
      const frame = document.createElement("iframe");
      frame.src = `${base}/ui/`;
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener("load", resolve));
      let inside = null;
      try {
        inside = frame.contentDocument?.querySelector("page-shell") ?? null;
      } catch {
        // Another origin.
      }
      return [answer, "sent", inside];
    },
    { base: BASE, options: ACCOUNTS, body: CALL },
  );
  assert.equal(read, "refused");
  assert.equal(blind, "sent");
  assert.equal(framed, null);
  assert.ok(statuses.length > 0 && statuses.every((status) => status >= 400), String(statuses));
  await page.context().close();
});

test("a name of another site that resolves to this machine is no origin of the wallets", async () => {
  const { hostname, port } = new URL(BASE);
  const status = await new Promise((resolve, reject) => {
    const headers = { ...ACCOUNTS.headers, host: `rebound.example:${port}`, origin: `http://rebound.example:${port}` };
    const request = http.request({ hostname, port, path: "/ui/wallet", method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", reject);
    request.end(CALL);
  });
  assert.equal(status, 403);
});

test("the wallets sign for this chain and for statements of this exchange alone", async () => {
  const page = await open(browser);
  await singleModules(page);
  await go(page, MARKET);
  await state(page, "live");
  const codes = await page.evaluate(async () => {
    const { developmentWallets, signTypedData } = await import("/ui/lib/wallet.js");
    const { clobAuth, signedOrder } = await import("/ui/lib/typed_data.js");
    const { chain_id: chain, order_domains: domains } = await (await fetch("/ui/api/site")).json();
    const [wallet] = await developmentWallets();
    const zero = `0x${"0".repeat(64)}`;
    const order = {
      salt: "1",
      maker: wallet.address,
      signer: wallet.address,
      tokenId: "1",
      makerAmount: "1",
      takerAmount: "1",
      side: 0,
      signatureType: 0,
      timestamp: "1",
      metadata: zero,
      builder: zero,
    };
    const [domain] = domains;
    const statement = (id) => clobAuth(wallet.address, "1", 0, id);
    const attempts = {
      statement: statement(chain),
      order: signedOrder(order, domain),
      "other chain": statement(1),
      "order of another chain": signedOrder(order, { ...domain, chainId: 137 }),
      "other contract": signedOrder(order, { ...domain, verifyingContract: "0x00000000000000000000000000000000000000aa" }),
      "other name": signedOrder(order, { ...domain, name: "USD Coin" }),
      "other type": { ...statement(chain), primaryType: "Permit" },
      "other text": { ...statement(chain), message: { ...statement(chain).message, message: "I give everything away" } },
      "other signer": signedOrder({ ...order, signer: "0x00000000000000000000000000000000000000aa" }, domain),
    };
    const outcome = {};
    for (const [name, data] of Object.entries(attempts)) {
      outcome[name] = await signTypedData(wallet, wallet.address, data).then(
        () => "signed",
        () => "refused",
      );
    }
    outcome.transaction = await wallet.provider.request({ method: "eth_sendTransaction", params: [{}] }).then(
      () => "signed",
      () => "refused",
    );
    outcome["plain text"] = await wallet.provider.request({ method: "personal_sign", params: ["0x00", wallet.address] }).then(
      () => "signed",
      () => "refused",
    );
    return outcome;
  });
  for (const [name, outcome] of Object.entries(codes)) {
    assert.equal(outcome, name === "statement" || name === "order" ? "signed" : "refused", name);
  }
  await clean(page);
});
