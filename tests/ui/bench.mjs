// Prints the figures of the page and whether each meets its goal.

import { BASE, MARKET, launch, open, singleModules } from "./browser.mjs";
import { busyMarket } from "./busy_market.mjs";

const RATE = 1000;
const FRAME_MS = 1000 / 60;
const WATCH_MS = 10_000;
const ROUNDS = 5;

const percentile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];
const report = (name, value, unit, goal) =>
  console.log(
    `${name.padEnd(46)} ${value.toFixed(1).padStart(9)} ${unit.padEnd(3)} ${goal === undefined ? "" : value <= goal ? `goal ${goal} met` : `goal ${goal} MISSED`}`,
  );

/** Compressed bytes of everything the page itself consists of. */
async function bytes(browser) {
  const page = await open(browser);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const files = new Map();
  session.on("Network.responseReceived", ({ requestId, response }) => {
    const { pathname } = new URL(response.url);
    if (pathname.startsWith("/ui/") && !pathname.startsWith("/ui/api/")) files.set(requestId, 0);
  });
  session.on(
    "Network.loadingFinished",
    ({ requestId, encodedDataLength }) => files.has(requestId) && files.set(requestId, encodedDataLength),
  );
  await page.goto(`${BASE}/ui/`);
  await page.waitForSelector(".link-row .spark path");
  report("all files, compressed, with headers", [...files.values()].reduce((sum, size) => sum + size, 0) / 1000, "KB", 150);
  await page.context().close();
}

/** First paint, and the time at which the first market can be clicked. */
async function start(browser) {
  const paints = [];
  const ready = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const page = await open(browser);
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (!document.querySelector(".link-row a")) return;
        window.interactive = performance.now();
        observer.disconnect();
      }).observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${BASE}/ui/`);
    await page.waitForSelector(".link-row a");
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    ready.push(await page.evaluate(() => window.interactive));
    await page.context().close();
  }
  report("first contentful paint, median of 5", percentile(paints, 0.5), "ms", 500);
  report("list can be used, median of 5", percentile(ready, 0.5), "ms", 1000);
}

/**
 * Milliseconds of the tasks in each frame's time.
 * @param {any[]} tasks
 * @param {"tdur" | "dur"} duration CPU time, or time that passed
 */
function perFrame(tasks, duration) {
  const windows = new Map();
  for (const task of tasks) {
    const at = Math.floor(task.ts / 1000 / FRAME_MS);
    windows.set(at, (windows.get(at) ?? 0) + (task[duration] ?? 0) / 1000);
  }
  return [...windows.values()];
}

/** CPU time of the main thread in each frame's time, by the browser's own trace. */
async function frames(page) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await page.evaluate(() => {
    window.frames60 = [];
    let last = performance.now();
    const next = (now) => {
      window.frames60.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await session.send("Tracing.start", {
    traceConfig: { includedCategories: ["toplevel", "disabled-by-default-devtools.timeline"] },
    transferMode: "ReportEvents",
  });
  await page.waitForTimeout(WATCH_MS);
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  const gaps = await page.evaluate(() => window.frames60);
  const main = new Map(
    events
      .filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain")
      .map((event) => [`${event.pid}/${event.tid}`, 0]),
  );
  const tasks = events.filter(
    (event) => event.name === "ThreadControllerImpl::RunTask" && event.dur && main.has(`${event.pid}/${event.tid}`),
  );
  for (const task of tasks) main.set(`${task.pid}/${task.tid}`, main.get(`${task.pid}/${task.tid}`) + task.dur);
  const [busiest] = [...main].sort((a, b) => b[1] - a[1])[0];
  const own = tasks.filter((task) => `${task.pid}/${task.tid}` === busiest);
  const work = perFrame(own, "tdur");
  report(`work a frame at ${RATE} messages/s, p50`, percentile(work, 0.5), "ms");
  report(`work a frame at ${RATE} messages/s, p95`, percentile(work, 0.95), "ms", 8);
  report("the same with waits for a core, p95", percentile(perFrame(own, "dur"), 0.95), "ms");
  const expected = WATCH_MS / FRAME_MS;
  report("frames dropped", (Math.max(0, expected - gaps.length) / expected) * 100, "%", 1);
  report("messages shown a second", await page.evaluate(async () => (await import("/ui/lib/store.js")).get("stream").rate), "/s");
}

async function heap(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1e6;
}

const minutes = Number(process.argv[2]);
const browser = await launch();
await bytes(browser);
await start(browser);
const listed = (await (await fetch(`${BASE}/sampling-markets`)).json()).data.find((market) => MARKET.endsWith(market.slug));
const proxy = await busyMarket(BASE, { yes: listed.assets_ids[0], no: listed.assets_ids[1], market: listed.condition_id }, RATE);
const page = await open(browser);
await singleModules(page);
await page.goto(proxy.address + MARKET);
await page.waitForSelector('.status[data-state="live"]');
await page.waitForSelector(".trades td");
await page.waitForTimeout(3000);
await frames(page);
const before = await heap(page);
await page.waitForTimeout(minutes * 60_000);
const grown = (await heap(page)) - before;
report("heap after garbage collection", before, "MB");
report(`heap grown in ${minutes} min at ${RATE} messages/s`, grown, "MB", 2);
if (page.problems.length) console.log("problems", page.problems.slice(0, 5));
await browser.close();
proxy.close();
process.exit();
