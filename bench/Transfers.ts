/** Signed transfers in the number that a load needs, made by whoever sends them. */
import * as Wallet from "../src/client/Wallet.js"
import * as Address from "../src/protocol/identity/Address.js"
import * as Testing from "../src/testing/Testing.js"
import { numbered } from "../test/network/Wallet.js"

export interface Transfers {
  readonly network: Wallet.WalletNetwork
  /** Of the accounts that a test node funds. */
  readonly accounts: number
  /** The number of the first; 0 where nothing is said. */
  readonly firstAccount?: number
  readonly firstNonce: number
  readonly each: number
  /** How many numbered accounts are paid, one after the other; where there are none, the senders pay each other. */
  readonly receivers?: number
  /** Transactions of one request; 1 sends them alone. */
  readonly batch: number
}

/** A prime, so that neighbours in time are none in the table of accounts, and all have their turn. */
const STRIDE = 7_919

const post = (body: string): string =>
  `POST /tx/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** Every account's first ones first, so that each has its turn again late. */
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
