/** Signed transfers in the number that a load needs, made by whoever sends them. */
import * as Wallet from "../src/client/Wallet.js"
import * as Testing from "../src/testing/Testing.js"

export interface Transfers {
  readonly network: Wallet.WalletNetwork
  /** Of the accounts that a test node funds. */
  readonly accounts: number
  readonly firstNonce: number
  readonly each: number
  /** Transactions of one request; 1 sends them alone. */
  readonly batch: number
}

const post = (body: string): string =>
  `POST /tx/submit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** Every account's first ones first, so that each has its turn again late. */
export const requests = ({ network, accounts, firstNonce, each, batch }: Transfers): ReadonlyArray<string> => {
  const senders = Array.from({ length: accounts }, (_, i) => Wallet.account(network, Testing.keyOf(i)))
  const bodies = Array.from({ length: each }, (_, n) =>
    senders.map((sender) =>
      JSON.stringify(sender.transfer({ to: sender.address, amount: 1, fee: 1_000, nonce: firstNonce + n })),
    ),
  ).flat()
  if (batch === 1) return bodies.map(post)
  const together: Array<string> = []
  for (let i = 0; i < bodies.length; i += batch) together.push(post(`[${bodies.slice(i, i + batch).join(",")}]`))
  return together
}
