// What every public method of a client does here: its calls, its requests, and the table of outcomes in
// docs/api/client-methods.md. FORETELL_BLESS=1 writes the table.

import assert from "node:assert/strict";
import diagnostics from "node:diagnostics_channel";
import { readFile, writeFile } from "node:fs/promises";

const PAGE = process.env.EXCHANGE_METHODS_PAGE;

export const answered = (reason) => ({ kind: "answered", reason });
export const ANSWERED = answered();
export const local = (reason) => ({ kind: "local", reason });
export const LOCAL = local();
/** There is nothing behind this method, or not in its form: 404, 405, 400 and 401, or the client stops. */
export const notOffered = (reason) => ({ kind: "not offered", reason });
/** A WebSocket. */
export const stream = (reason) => ({ kind: "stream", reason });

// Path segments that name something: hex, numbers, UUIDs.
const NAMED = /(?<=\/)(0x[0-9a-fA-F]+|[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=\/|$)/g;
// Mistakes of a test, which are no outcome of a method.
const MISTAKES = [TypeError, assert.AssertionError];

/** Requests of the method that runs now. */
let requests = [];

/** Notes a request of the method that runs now; of two at once, either may be answered first. */
function note(method, path) {
  const request = { call: `${method} ${path.split("?")[0].replace(NAMED, "{…}")}`, code: "" };
  requests.push(request);
  return request;
}

// Clients of node:http, and those of fetch.
diagnostics.subscribe("http.client.response.finish", ({ request, response }) => {
  const code = response.headers["x-error-code"] ?? "";
  Object.assign(note(request.method, request.path), { status: response.statusCode, code });
});
const fetched = new WeakMap();
diagnostics.subscribe("undici:request:create", ({ request }) => {
  fetched.set(request, note(request.method, request.path));
});
diagnostics.subscribe("undici:request:headers", ({ request, response }) => {
  const texts = response.headers.map(String);
  const place = texts.findIndex((text, at) => at % 2 === 0 && text.toLowerCase() === "x-error-code");
  Object.assign(fetched.get(request), { status: response.statusCode, code: place < 0 ? "" : texts[place + 1] });
});

/** What a call needs first: its requests are not counted. */
export async function prepared(work) {
  const result = await work();
  requests = [];
  return result;
}

/** Makes a call; returns its requests and how it ended. */
async function drive(call) {
  requests = [];
  let error;
  try {
    await call();
  } catch (caught) {
    error = caught;
  }
  const run = { requests, error };
  requests = [];
  return run;
}

function fits({ requests, error }, { kind }) {
  const last = requests.findLast(({ status }) => status !== undefined);
  const fine = requests.every(({ status }) => status >= 200 && status < 300);
  if (kind === "local") return !error && last === undefined;
  if (kind === "answered") return !error && last !== undefined && fine;
  const stopped = error !== undefined && !MISTAKES.some((mistake) => error instanceof mistake);
  return [400, 401, 404, 405].includes(last?.status) || (last === undefined && stopped);
}

function row(name, { requests, error }, { kind, reason }) {
  const done = requests.filter(({ status }) => status !== undefined);
  const calls = [...new Set(done.map(({ call }) => `\`${call}\``))].join(", ") || "–";
  const last = done.at(-1);
  const outcome = kind === "stream" || fits({ requests, error }, { kind }) ? kind : "fails";
  const code = last?.code ? ` \`${last.code}\`` : "";
  const failure = last?.status >= 400 ? ` (${last.status}${code})` : "";
  return `| \`${name}\` | ${calls} | ${outcome}${failure}${reason ? `: ${reason}` : ""} |\n`;
}

/** Makes the call of every method, in the order of names: [call, outcome] by name. */
export async function driveAll(methods) {
  const runs = {};
  for (const name of Object.keys(methods).sort()) {
    const [call, { kind }] = methods[name];
    runs[name] = kind === "stream" ? { requests: [] } : await drive(() => call(name));
  }
  return runs;
}

/** Every name that was found is declared, and nothing else is. */
export function assertClassified(found, declared) {
  assert.deepEqual(found.filter((name) => !declared.includes(name)), [], "new methods: say what comes of them");
  assert.deepEqual(declared.filter((name) => !found.includes(name)), [], "no such method");
}

/** Every method did what is said of it. */
export function assertOutcomes(runs, methods) {
  const wrong = Object.entries(runs)
    .filter(([name, run]) => methods[name][1].kind !== "stream" && !fits(run, methods[name][1]))
    .map(([name, run]) => `${name}: ${JSON.stringify(run.requests)} ${run.error}`);
  assert.deepEqual(wrong, []);
}

/** Compares the section of the page with these outcomes, or writes it. */
export async function assertTable(section, runs, methods) {
  const rows = Object.entries(runs).map(([name, run]) => row(name, run, methods[name][1]));
  const table = `| method | call | outcome |\n|---|---|---|\n${rows.join("")}`;
  const page = await readFile(PAGE, "utf8");
  const [begin, end] = [`<!-- ${section} -->\n`, `<!-- end of ${section} -->\n`];
  const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)];
  assert.ok(from >= begin.length && to >= from, `${PAGE} has the section ${section}`);
  if (process.env.EXCHANGE_BLESS === "1") {
    await writeFile(PAGE, page.slice(0, from) + table + page.slice(to));
  } else {
    assert.equal(page.slice(from, to), table, "run with FORETELL_BLESS=1");
  }
}
