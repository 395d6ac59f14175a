// Runs cases with the stock TypeScript client and prints their results as JSON: typescript.cjs '{"case": facts, …}'

const { createRequire } = require("node:module");

const installed = createRequire(`${process.env.EXCHANGE_NPM}/`);
const { ClobClient, OrderType } = installed("@polymarket/clob-client-v2");
const { createWalletClient, http } = installed("viem");
const { privateKeyToAccount } = installed("viem/accounts");

/** Clients of a wallet: one that throws what is refused, one that returns it, and one for another chain. */
function clients({ trading: host, chain, wallet }) {
  const signer = createWalletClient({ account: privateKeyToAccount(wallet.key), transport: http(host) });
  const creds = { key: wallet.api_key, secret: wallet.secret, passphrase: wallet.passphrase };
  return {
    strict: new ClobClient({ host, chain, signer, creds, throwOnError: true }),
    plain: new ClobClient({ host, chain, signer, creds }),
    other: (throwOnError) => new ClobClient({ host, chain: 137, signer, throwOnError }),
  };
}

const amounts = ({ side, makerAmount, takerAmount }) => [side, makerAmount, takerAmount];

const cases = {
  async lowerCase({ strict, limit, market }) {
    const signed = await strict.createOrder({ ...limit, side: "buy" });
    const { side } = await strict.createMarketOrder({ ...market, side: "buy" });
    return { signed: amounts(signed), market: side, answer: await strict.postOrder(signed) };
  },
  async keptPrice({ strict, token, limit, market }) {
    const order = { ...market, price: undefined, orderType: OrderType.FAK };
    await strict.createMarketOrder(order);
    await strict.postOrder(await strict.createOrder({ ...limit, price: 0.4, side: "SELL" }));
    return { kept: order.price, best: (await strict.getOrderBook(token)).asks.at(-1).price };
  },
  async zeroBalance({ strict, limit, market }) {
    const taking = await strict.createMarketOrder({ ...market, userUSDCBalance: 0 });
    const order = await strict.createOrder({ ...limit, userUSDCBalance: 0 });
    const refused = await strict.postOrder(order).catch((error) => error.message);
    return { market: amounts(taking), limit: amounts(order), refused };
  },
  async otherChain({ other }) {
    const thrown = await other(true).createOrDeriveApiKey().catch((error) => error.message);
    const returned = await other(false).createOrDeriveApiKey();
    return { returned: Object.values(returned).filter(Boolean), thrown };
  },
  async refused({ plain, limit }) {
    const { success, status, error } = await plain.createAndPostOrder({ ...limit, size: 100_000 });
    return { success, status, error };
  },
  async sized({ strict, limit }) {
    const order = { ...limit, price: 0.8 };
    const { makingAmount, takingAmount } = await strict.createAndPostOrder(order, undefined, OrderType.FOK);
    return { makingAmount, takingAmount };
  },
  async deep({ strict, market }) {
    const order = { ...market, price: undefined, amount: 200, orderType: OrderType.FAK };
    return (await strict.createAndPostMarketOrder(order, undefined, OrderType.FAK)).orderID;
  },
  async tick({ strict, limit, changeTick }) {
    await strict.createOrder(limit);
    await changeTick("0.001");
    return amounts(await strict.createOrder({ ...limit, price: 0.576 }));
  },
  async rounded({ strict, limit, market }) {
    const prices = [0.29, 0.57, 0.58].map((price) => strict.createMarketOrder({ ...market, price }));
    const sizes = [2.01, 10.2, 1.15].map((size) => strict.createOrder({ ...limit, size }));
    const off = await strict.createOrder({ ...limit, price: 0.576 });
    return {
      prices: (await Promise.all(prices)).map((it) => Math.round((it.makerAmount / it.takerAmount) * 100) / 100),
      sizes: (await Promise.all(sizes)).map((it) => Number(it.takerAmount) / 1e6),
      off: amounts(off),
    };
  },
};

/** The operator's change of a market's tick. */
const changeTick = ({ operator, operatorToken, condition }) => (tick_size) =>
  fetch(`${operator}/markets/tick`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify({ condition_id: condition, tick_size }),
  });

async function run(all) {
  const results = {};
  for (const [name, facts] of Object.entries(all)) {
    const { token } = facts;
    const [limit, market] = [
      { tokenID: token, price: 0.5, size: 10, side: "BUY" },
      { tokenID: token, price: 0.5, amount: 10, side: "BUY" },
    ];
    results[name] = await cases[name]({ ...clients(facts), changeTick: changeTick(facts), token, limit, market });
  }
  return results;
}

run(JSON.parse(process.argv[2])).then((results) => console.log(JSON.stringify(results)));
