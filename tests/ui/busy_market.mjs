// The exchange behind a proxy whose /ws/market sends one market a thousand messages a second.

import { createHash } from "node:crypto";
import http from "node:http";

const LEVELS = 1000;
const TICK = 0.0005;

/** A text frame of a server: not masked. */
function frame(text) {
  const payload = Buffer.from(text);
  const size = payload.length;
  const head =
    size < 126
      ? [0x81, size]
      : size < 65_536
        ? [0x81, 126, size >> 8, size & 255]
        : [0x81, 127, 0, 0, 0, 0, (size >>> 24) & 255, (size >>> 16) & 255, (size >>> 8) & 255, size & 255];
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Texts of a client's frames, which are masked. Each frame comes in one piece: they are short and local. */
function texts(bytes) {
  const found = [];
  for (let at = 0; at + 6 <= bytes.length;) {
    const short = bytes[at + 1] & 127;
    const head = short === 126 ? 4 : 2;
    const size = short === 126 ? bytes.readUInt16BE(at + 2) : short;
    const mask = bytes.subarray(at + head, at + head + 4);
    const start = at + head + 4;
    found.push(Buffer.from(bytes.subarray(start, start + size).map((byte, i) => byte ^ mask[i % 4])).toString());
    at = start + size;
  }
  return found;
}

/**
 * @param {string} exchange address
 * @param {{ yes: string, no: string, market: string }} ids
 * @param {number} rate messages a second
 */
export async function busyMarket(exchange, ids, rate) {
  const upstream = new URL(exchange);
  const server = http.createServer((request, response) => {
    const options = {
      host: upstream.hostname,
      port: upstream.port,
      path: request.url,
      method: request.method,
      headers: { ...request.headers, host: upstream.host },
    };
    const forward = http.request(options, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    forward.on("error", () => response.destroy());
    request.pipe(forward);
  });
  server.on("upgrade", (request, socket) => {
    const key = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`);
    socket.on("error", () => {});
    if (request.url.startsWith("/ws/market")) feed(socket, ids, rate);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * A book for each subscription that asks for one, half of its levels on each side of 0.5. From the first on, each message
 * changes one level, each twentieth is a trade.
 */
function feed(socket, { yes, no, market }, rate) {
  let sequence = 1_000_000;
  const price = (side, level) => (side === "BUY" ? 0.5 - (level + 1) * TICK : 0.5 + (level + 1) * TICK).toFixed(4);
  const common = () => ({
    timestamp: String(Date.now()),
    sequence: String(sequence),
    prev_sequence: String(sequence - 1),
    stream_id: "0123456789abcdef",
  });
  const send = (message) => socket.write(frame(JSON.stringify(message)));
  const side = (name) =>
    Array.from({ length: LEVELS / 2 }, (_, level) => ({ price: price(name, LEVELS / 2 - 1 - level), size: String(10 + (level % 90)) }));
  const book = () => ({
    event_type: "book",
    market,
    asset_id: yes,
    hash: "",
    bids: side("BUY"),
    asks: side("SELL"),
    min_order_size: "5",
    tick_size: "0.0001",
    neg_risk: false,
    last_trade_price: "0.5",
    ...common(),
  });
  let sent = 0;
  let begin = 0;
  socket.on("data", (bytes) => {
    if (!texts(bytes).some((text) => text.includes(yes) && text.includes('"initial_dump":true'))) return;
    send(book());
    begin ||= Date.now();
  });
  const timer = setInterval(() => {
    if (!begin) return;
    for (const due = ((Date.now() - begin) * rate) / 1000; sent < due; sent += 1) {
      sequence += 1;
      const name = sent % 2 ? "BUY" : "SELL";
      const level = (sent * 7) % 40;
      if (sent % 20 === 0)
        send({
          event_type: "last_trade_price",
          market,
          asset_id: yes,
          price: price(name, 0),
          side: name,
          size: "12",
          fee_rate_bps: "0",
          transaction_hash: `0x${sequence.toString(16).padStart(64, "0")}`,
          ...common(),
        });
      else {
        const size = String(10 + (sent % 400));
        const mirror = {
          asset_id: no,
          price: (1 - Number(price(name, level))).toFixed(4),
          size,
          side: name === "BUY" ? "SELL" : "BUY",
          hash: "",
          best_bid: "0.4995",
          best_ask: "0.5005",
        };
        send({
          event_type: "price_change",
          market,
          price_changes: [{ ...mirror, asset_id: yes, price: price(name, level), side: name }, mirror],
          ...common(),
        });
      }
    }
  }, 4);
  socket.on("close", () => clearInterval(timer));
}
