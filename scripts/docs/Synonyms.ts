/** Search terms that the pages do not use, with the place that they mean. These matches rank above all others. */
export const synonyms: Readonly<Record<string, ReadonlyArray<string>>> = {
  "docs/economics.html#fees": ["gas", "gas price", "transaction cost"],
  "docs/api.html#live-events": ["webhook", "websocket", "subscribe", "notification", "callback"],
  "docs/dev.html#controls": ["impersonate", "cheatcode", "time travel", "fork mainnet"],
  "docs/client.html": ["install client", "sdk", "npm install", "javascript library"],
  "docs/economics.html#being-a-validator": ["slashing", "slashed", "penalty", "jail"],
  "docs/getting-started.html#make-an-account": ["airdrop", "test coins", "free coins", "create account"],
  "docs/operations/keys.html": ["validator key", "keystore", "hot key", "private key"],
  "docs/errors.html": ["error code", "status code", "400", "403", "404", "409", "429", "503"],
  "docs/faq.html": ["smart contract", "erc20", "nft", "confirmations", "reorg"],
  "docs/coming-from.html": ["ethereum", "solana", "sui", "evm", "solidity"],
  "docs/parameters.html": ["genesis settings", "tokenomics", "inflation"],
  "docs/glossary.html#consensus": ["block", "block time", "slot", "height"],
  "docs/cli.html#several-keys-for-one-account": ["multisig", "safe"],
}
