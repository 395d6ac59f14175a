/** EIP-712 messages that a wallet signs: the key request, the order and the withdrawal (docs/api/authentication.md). */

/** @param {string} fields "type name,type name" */
const members = (fields) =>
  fields.split(",").map((field) => {
    const [type, name] = field.split(" ");
    return { name, type };
  });

const CLOB_AUTH = members("address address,string timestamp,uint256 nonce,string message");
const ORDER = members(
  "uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint8 side," +
    "uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder",
);
const WITHDRAWAL = members("address wallet,string destination,uint256 amount,string reference,uint256 validUntil");
const DOMAIN = members("string name,string version,uint256 chainId");
const SALTED_DOMAIN = [...DOMAIN, { name: "salt", type: "bytes32" }];
const CONTRACT_DOMAIN = [...DOMAIN, { name: "verifyingContract", type: "address" }];

export const ZERO32 = `0x${"0".repeat(64)}`;

/**
 * @param {string} address
 * @param {string} timestamp unix seconds
 * @param {number} nonce
 * @param {number} chainId
 */
export const clobAuth = (address, timestamp, nonce, chainId) => ({
  types: { EIP712Domain: DOMAIN, ClobAuth: CLOB_AUTH },
  primaryType: "ClobAuth",
  domain: { name: "ClobAuthDomain", version: "1", chainId },
  message: { address, timestamp, nonce: String(nonce), message: "This message attests that I control the given wallet" },
});

/**
 * @param {Record<string, string | number>} order with side 0 (buy) or 1 (sell)
 * @param {{ name: string, version: string, chainId: number, verifyingContract: string }} domain
 */
export const signedOrder = (order, domain) => ({
  types: { EIP712Domain: CONTRACT_DOMAIN, Order: ORDER },
  primaryType: "Order",
  domain: { name: domain.name, version: domain.version, chainId: domain.chainId, verifyingContract: domain.verifyingContract },
  message: order,
});

/**
 * @param {Record<string, string>} request
 * @param {{ name: string, version: string, chainId: number, salt: string }} domain of `/withdrawals/domain`
 */
export const signedWithdrawal = (request, { name, version, chainId, salt }) => ({
  types: { EIP712Domain: SALTED_DOMAIN, Withdrawal: WITHDRAWAL },
  primaryType: "Withdrawal",
  domain: { name, version, chainId, salt },
  message: request,
});
