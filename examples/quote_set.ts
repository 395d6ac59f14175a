// A signed set of quotes: its words, its digest and its signature (docs/api/makers.md).
//
//   npm install --no-save --prefix examples
//   examples/node_modules/.bin/tsx examples/quote_set.ts     compares with known answers
//
// `examples/quote_maker.ts` trades with it.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { hashTypedData, toHex, type Hex } from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";

const FIELDS =
  "maker:address signer:address signatureType:uint8 group:uint8 revision:uint64 seen:uint64 " +
  "timestamp:uint64 validUntil:uint64 builder:bytes32 conditions:bytes32[] quotes:uint256[]";
const types = {
  QuoteSet: FIELDS.split(" ").map((field) => {
    const [name, type] = field.split(":");
    return { name, type };
  }),
};
export const [YES, NO, BUY, SELL] = [0, 1, 0, 1];
export const NO_BUILDER: Hex = `0x${"0".repeat(64)}`;
/** `seen` of a maker that takes no account of fills. */
export const UNSEEN = 2n ** 64n - 1n;

/** What `GET /quotes/domain` answers. */
export type Domain = { name: string; version: string; chainId: number; salt: Hex };

/** A quote; `price` in 0.0001 and `lots` of 0.01 shares are whole numbers. */
export type Quote = {
  outcome: number;
  side: number;
  price: number;
  lots: number | bigint;
  /** An index into the set's conditions. */
  condition?: number;
  growTail?: boolean;
};

export type QuoteSet = {
  maker: Hex;
  signer: Hex;
  signatureType: number;
  group: number;
  revision: bigint;
  seen: bigint;
  timestamp: bigint;
  validUntil: bigint;
  builder: Hex;
  conditions: Hex[];
  quotes: bigint[];
};

/** The number that is signed for a quote. */
export function word({ outcome, side, price, lots, condition = 0, growTail = false }: Quote): bigint {
  const fields: [number | bigint, bigint][] = [
    [condition, 240n], [outcome, 232n], [side, 224n], [price, 192n], [lots, 128n], [Number(growTail), 120n],
  ];
  return fields.reduce((packed, [value, bits]) => packed | (BigInt(value) << bits), 0n);
}

/** The body of `POST /quotes`, and the digest of the set. */
export async function sign(account: PrivateKeyAccount, domain: Domain, set: QuoteSet) {
  const { name, version, chainId, salt } = domain;
  const typed = { domain: { name, version, chainId, salt }, types, primaryType: "QuoteSet", message: set } as const;
  const texts = {
    revision: `${set.revision}`, seen: `${set.seen}`, timestamp: `${set.timestamp}`, validUntil: `${set.validUntil}`,
    quotes: set.quotes.map((quote) => toHex(quote, { size: 32 })),
  };
  const body = { set: { ...set, ...texts }, signature: await account.signTypedData(typed) };
  return { body, digest: hashTypedData(typed) };
}

/** The id of a quote: the digest of its set with the index as the last byte. */
export const quoteId = (digest: Hex, index: number) => digest.slice(0, -2) + index.toString(16).padStart(2, "0");

async function compare() {
  const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
  const set: QuoteSet = {
    maker: `0x${"1".repeat(40)}`,
    signer: account.address,
    signatureType: 3,
    group: 15,
    revision: 1_710_000_000_000_000n,
    seen: 123_456_789n,
    timestamp: 1_710_000_000_000n,
    validUntil: 1_710_000_060_000n,
    builder: `0x${"3".repeat(64)}`,
    conditions: [`0x${"2".repeat(64)}`, `0x${"c4".repeat(32)}`],
    quotes: [
      word({ outcome: YES, side: BUY, price: 4_200, lots: 10_000 }),
      word({ outcome: NO, side: BUY, price: 5_600, lots: 10_000, growTail: true }),
      word({ outcome: NO, side: SELL, price: 9_990, lots: 100_000_000_000, condition: 1 }),
    ],
  };
  const domain: Domain = { name: "Foretell Quotes", version: "1", chainId: 80002, salt: `0x${"07".repeat(32)}` };
  const { body, digest } = await sign(account, domain, set);
  assert.deepEqual(body.set.quotes, [
    "0x0000000000001068000000000000271000000000000000000000000000000000",
    "0x00000100000015e0000000000000271001000000000000000000000000000000",
    "0x0001010100002706000000174876e80000000000000000000000000000000000",
  ]);
  assert.equal(digest, "0x6e7ae15437c955722f2d2ad7c923fcf60273a77f8d4adbbacca9455a8a26b23a");
  assert.equal(
    body.signature,
    "0x91508fa64cdb8c78eb033acfa687feeba7e47e574acb7ff084b7bc9550a23dd8" +
      "71f0f5723f9d37b4e3d9e6ba76130d4b9cdd365cf01978556dbe95bd7c5812d71c",
  );
  console.log("digest    ", digest);
  console.log("quotes    ", ...[0, 1, 2].map((index) => quoteId(digest, index).slice(-4)));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await compare();
