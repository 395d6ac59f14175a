// Runs one case with the stock TypeScript client and prints its result as JSON: typescript.cjs NAME FACTS

const { createRequire } = require("node:module");

const installed = createRequire(`${process.env.EXCHANGE_NPM}/`);
const { ClobClient, OrderType } = installed("@polymarket/clob-client-v2");
const { createWalletClient, http } = installed("viem");
const { privateKeyToAccount } = installed("viem/accounts");

const [name, facts] = [process.argv[2], JSON.parse(process.argv[3])];
const { trading: host, chain, wallet, token } = facts;
const signer = createWalletClient({ account: privateKeyToAccount(wallet.key), transport: http(host) });
const creds = { key: wallet.api_key, secret: wallet.secret, passphrase: wallet.passphrase };
const strict = new ClobClient({ host, chain, signer, creds, throwOnError: true });
const plain = new ClobClient({ host, chain, signer, creds });
const amounts = ({ side, makerAmount, takerAmount }) => [side, makerAmount, takerAmount];
const limit = { tokenID: token, price: 0.5, size: 10, side: "BUY" };

const cases = {
  async lowerCase() {
    const signed = await strict.createOrder({ ...limit, side: "buy" });
    const market = await strict.createMarketOrder({ tokenID: token, amount: 10, price: 0.5, side: "buy" });
    return { signed: amounts(signed), market: market.side, answer: await strict.postOrder(signed) };
  },
  async keptPrice() {
    const order = { tokenID: token, amount: 10, side: "BUY", orderType: OrderType.FAK };
    await strict.createMarketOrder(order);
    await strict.postOrder(await strict.createOrder({ ...limit, price: 0.4, side: "SELL" }));
    return { kept: order.price, best: (await strict.getOrderBook(token)).asks.at(-1).price };
  },
  async zeroBalance() {
    const market = await strict.createMarketOrder({ tokenID: token, amount: 10, price: 0.5, side: "BUY", userUSDCBalance: 0 });
    const order = await strict.createOrder({ ...limit, userUSDCBalance: 0 });
    const refused = await strict.postOrder(order).catch((error) => error.message);
    return { market: amounts(market), limit: amounts(order), refused };
  },
  async otherChain() {
    const other = new ClobClient({ host, chain: 137, signer });
    const throwing = new ClobClient({ host, chain: 137, signer, throwOnError: true });
    const thrown = await throwing.createOrDeriveApiKey().catch((error) => error.message);
    return { returned: Object.values(await other.createOrDeriveApiKey()).filter(Boolean), thrown };
  },
  async refused() {
    const { success, status, error } = await plain.createAndPostOrder({ ...limit, size: 100_000 });
    return { success, status, error };
  },
  async rounded() {
    const prices = [0.29, 0.57, 0.58].map((price) => strict.createMarketOrder({ tokenID: token, amount: 10, side: "BUY", price }));
    const sizes = [2.01, 10.2, 1.15].map((size) => strict.createOrder({ ...limit, size }));
    const off = await strict.createOrder({ ...limit, price: 0.576 });
    return {
      prices: (await Promise.all(prices)).map((it) => Math.round((it.makerAmount / it.takerAmount) * 100) / 100),
      sizes: (await Promise.all(sizes)).map((it) => Number(it.takerAmount) / 1e6),
      off: amounts(off),
    };
  },
};

cases[name]().then((result) => console.log(JSON.stringify(result)));
