/** Signed transfers for a load, made by the sending process. */
import * as Wallet from "../src/client/Wallet.js"
import * as Address from "../src/protocol/identity/Address.js"
import * as Testing from "../src/testing/Testing.js"
import { numbered } from "../test/network/Wallet.js"

export interface Transfers {
  readonly network: Wallet.WalletNetwork
  /** Accounts funded by a test node. */
  readonly accounts: number
  /** The first one's number; 0 by default. */
  readonly firstAccount?: number
  readonly firstNonce: number
  readonly each: number
  /** How many numbered accounts are paid in turn; without any, senders pay each other. */
  readonly receivers?: number
  /** Transactions per request; 1 sends them alone. */
  readonly batch: number
}

/** A prime, so that consecutive accounts are not neighbours in the account table and all get a turn. */
const STRIDE = 7_919

const post = (body: string): string =>
  `POST /tx/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** Every account's first transfers come first, so that an account's next turn is late. */
export const requests = (transfers: Transfers): ReadonlyArray<string> => {
  const { network, accounts, firstAccount = 0, firstNonce, each, receivers = 0, batch } = transfers
  const senders = Array.from({ length: accounts }, (_, i) => Wallet.account(network, Testing.keyOf(firstAccount + i)))
  const receiverOf = (payment: number): string => {
    if (receivers === 0) return senders[(payment + 1) % accounts]?.address ?? ""
    return Address.toBech32(Address.fromPublicKey(numbered((payment * STRIDE) % receivers)), network.prefix)
  }
  const bodies = Array.from({ length: each }, (_, n) =>
    senders.map((sender, i) => {
      const to = receiverOf(n * accounts + i)
      return JSON.stringify(sender.transfer({ to, amount: 1, fee: 1_000, nonce: firstNonce + n }))
    }),
  ).flat()
  if (batch === 1) return bodies.map(post)
  const together: Array<string> = []
  for (let i = 0; i < bodies.length; i += batch) together.push(post(`[${bodies.slice(i, i + batch).join(",")}]`))
  return together
}
