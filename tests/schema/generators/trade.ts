// Places, reads and cancels an order with openapi-fetch and the types of the trading surface.
//
// Standard input: the surface's URL, an API key with its address, a signed order and the price it has.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./trading.js";

type Schemas = components["schemas"];
type Input = { url: string; address: string; key: Schemas["ApiKeyAnswer"]; submission: Schemas["OrderSubmission"] };

const { url, address, key, submission }: Input = JSON.parse(readFileSync(0, "utf8"));

/** Signs each request with the API key. */
const signer: Middleware = {
  async onRequest({ request }) {
    const now = Math.floor(Date.now() / 1_000).toString();
    const text = now + request.method + new URL(request.url).pathname + (await request.clone().text());
    const headers = {
      SERVICE_ADDRESS: address,
      SERVICE_API_KEY: key.apiKey,
      SERVICE_PASSPHRASE: key.passphrase,
      SERVICE_TIMESTAMP: now,
      SERVICE_SIGNATURE: createHmac("sha256", Buffer.from(key.secret, "base64")).update(text).digest("base64url"),
    };
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    return request;
  },
};

const client = createClient<paths>({ baseUrl: url });
client.use(signer);

const placed = await client.POST("/order", { body: submission });
assert(placed.data, JSON.stringify(placed.error));
const status: "" | "live" | "matched" | "delayed" | "unmatched" = placed.data.status;
assert.equal(status, "live");
const id = placed.data.orderID;

const read = await client.GET("/data/order/{id}", { params: { path: { id } } });
assert(read.data, JSON.stringify(read.error));
const order: Schemas["UserOrder"] = read.data.order;
assert.deepEqual([order.id, order.status, order.asset_id], [id, "LIVE", submission.order.tokenId]);
// @ts-expect-error: a field that no order has, which types of anything would take
assert.equal(order.unheard_of, undefined);

const canceled = await client.DELETE("/order", { body: { orderId: id } });
assert.deepEqual(canceled.data, { canceled: [id], not_canceled: {} });

// @ts-expect-error: an order without a body
const refused = await client.POST("/order", {});
assert.equal(refused.data, undefined);
assert(refused.error && "error" in refused.error && refused.error.error, JSON.stringify(refused.error));
console.log("openapi-typescript: placed, read and canceled an order");
