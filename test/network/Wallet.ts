/** A funded account at a running node. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "#crypto"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { PublicKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Processes from "./Processes.js"

/** A public key that nobody holds, always the same one. */
export const numbered = (n: number): PublicKey => sha256Hex(Uint8Array.of(n, n >> 8, n >> 16, n >> 24)) as PublicKey

const call = async (
  node: Processes.Started,
  path: string,
  body?: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<unknown> => {
  if (node.http === null) throw new Error(`node ${node.name} serves no HTTP`)
  const headers = { "content-type": "application/json", ...more }
  const post = { method: "POST", headers, body: JSON.stringify(body) }
  const response = await fetch(`${node.http}${path}`, body === undefined ? {} : post)
  const answer: unknown = await response.json()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
  return answer
}

const signed = ({ genesis, rich }: Processes.Founded, nonce: number, fee: number, operation: Operation) =>
  Transaction.sign(
    genesis.networkId,
    { from: Address.fromPublicKey(rich.publicKey), nonce: Natural.nonce(nonce), fee: Sats.make(fee), operation },
    rich,
  )

/** The given number of payments from this nonce on, sent to one node; returns their hashes. */
export const pay = async (
  node: Processes.Started,
  network: Processes.Founded,
  count: number,
  from = 0,
  headers?: Readonly<Record<string, string>>,
): Promise<ReadonlyArray<Hash>> => {
  const transactions = Array.from({ length: count }, (_, n) =>
    signed(network, from + n, 1_000, {
      _tag: "Transfer",
      to: Address.fromPublicKey(numbered(from + n)),
      amount: Sats.make(100_000),
      memo: "",
    }),
  )
  await call(node, "/tx/submit", transactions.map(JsonForm.toJson), headers)
  return transactions.map(({ id }) => id)
}

/** The rich account pays repeatedly, so that no round is idle, until told to stop. */
export const paying = (node: Processes.Started, network: Processes.Founded, everyMs: number) => {
  let isPaying = true
  const paid: Array<Hash> = []
  const pays = async (): Promise<ReadonlyArray<Hash>> => {
    for (; isPaying; await new Promise((resolve) => setTimeout(resolve, everyMs)))
      paid.push(...(await pay(node, network, 1, paid.length)))
    return paid
  }
  const all = pays()
  // The caller that stops it gets the error; a test that fails before has its own reason.
  all.catch(() => {})
  return {
    /** Returns the hashes of its payments. */
    stop: (): Promise<ReadonlyArray<Hash>> => {
      isPaying = false
      return all
    },
  }
}

/** The rich account stakes at this node. */
export const stake = async (node: Processes.Started, network: Processes.Founded): Promise<void> => {
  const amount = Sats.make(2 * Sats.MIN_STAKE_SATS)
  await call(node, "/tx/submit", JsonForm.toJson(signed(network, 0, 0, { _tag: "StakeTx", amount })))
}

/** A node with the key of the rich account. */
export const candidate = (
  network: Processes.Founded,
  name: string,
  peers: ReadonlyArray<Processes.Started>,
): Promise<Processes.Started> => {
  const file = join(network.folder, `${name}.key`)
  writeFileSync(file, `${network.rich.toSecretHex()}\n`, { mode: 0o600 })
  return Processes.start(network, name, ["--validator-key", file, ...peers.flatMap(({ p2p }) => ["--peer", p2p])])
}

export const stakeOf = async (node: Processes.Started, address: Address.Address): Promise<number> => {
  const answer = await call(node, `/stake/${address}`)
  const isStake = typeof answer === "object" && answer !== null && "staked_amount" in answer
  if (!isStake || typeof answer.staked_amount !== "number") throw new Error(`no stake: ${JSON.stringify(answer)}`)
  return answer.staked_amount
}

export const isInCommittee = async (node: Processes.Started, address: Address.Address): Promise<boolean> => {
  const answer = await call(node, `/stake/${address}`)
  return typeof answer === "object" && answer !== null && "in_committee" in answer && answer.in_committee === true
}
