/**
 * A node in this process that knows a hundred validators, runs one with nearly all of the stake, and has many payments.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Either, Option } from "effect"
import { connect } from "../src/client/Client.js"
import * as Wallet from "../src/client/Wallet.js"
import * as Founding from "../src/node/start/Founding.js"
import * as Genesis from "../src/protocol/epoch/Genesis.js"
import * as Address from "../src/protocol/identity/Address.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Testing from "../src/testing/Testing.js"
import * as RealNode from "../test/rpc/RealNode.js"

const VALIDATORS = 100
const SENDERS = 500
const AT_ONCE = 500
/** The capacity of a mempool. */
const MOST_PENDING = 8_000
const REST_MS = 15_000

const genesisOf = (validator: Wallet.SecretKey): Genesis.Genesis => {
  const solo = Founding.solo({
    ...{ mode: "testnet", time: Natural.timestamp(Date.now()), roundIntervalMs: 500 },
    ...{ validator: validator.publicKey, faucet: null },
  })
  const [first] = solo.validators
  if (first === undefined) throw new Error("a solo network has a validator")
  const others = Array.from({ length: VALIDATORS - 1 }, (_, i) => ({
    ...first,
    publicKey: Testing.keyOf(SENDERS + i).publicKey,
    stake: Sats.make(Sats.MIN_STAKE_SATS + i * Sats.SATS_PER_COIN),
  }))
  const senders = Array.from({ length: SENDERS }, (_, i) => ({
    address: Address.fromPublicKey(Testing.keyOf(i).publicKey),
    amount: Sats.make(1_000 * Sats.SATS_PER_COIN),
  }))
  const made = Genesis.make({
    ...solo,
    allocations: senders,
    validators: [{ ...first, stake: Sats.make(2_000_000 * Sats.SATS_PER_COIN) }, ...others],
  })
  return Either.getOrThrow(made)
}

export interface FullNetwork {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** The payments are final when it returns. */
export const start = async (payments: number): Promise<FullNetwork> => {
  const directory = mkdtempSync(join(tmpdir(), "udg-full-"))
  const validator = Wallet.generate()
  const genesis = genesisOf(validator)
  const data = join(directory, "data")
  mkdirSync(data, { mode: 0o700 })
  const genesisFile = join(directory, "genesis.json")
  writeFileSync(genesisFile, JSON.stringify(Genesis.toJson(genesis)))
  const keyFile = join(directory, "validator.key")
  writeFileSync(keyFile, `${validator.toSecretHex()}\n`, { mode: 0o600 })
  const settings = {
    ...{ ephemeral: false, dataDirectory: data, roundMs: Option.none() },
    ...{ genesisFile: Option.some(genesisFile), validatorKeyFile: Option.some(keyFile), faucetKeyFile: Option.none() },
  }
  // No other node can report what this key has signed, so the operator states a round.
  const asking = await RealNode.start(settings)
  const { signing } = asking.view.recovery(Natural.timestamp(Date.now()))
  await asking.stop()
  if (signing._tag !== "Forgotten") throw new Error("the validator starts without anybody's word")
  const word = { epoch: signing.epoch, round: signing.fromRound, base: signing.base }
  const node = await RealNode.start({ ...settings, signingWord: Option.some(word) })
  const client = connect(node.url)
  const network = Wallet.network(await client.core.network())
  const senders = Array.from({ length: SENDERS }, (_, i) => Wallet.account(network, Testing.keyOf(i)))
  const to = senders[0]?.address ?? ""
  for (let nonce = 0; nonce < payments / SENDERS; nonce++) {
    const signed = senders.map((sender) => sender.transfer({ nonce, fee: 1_000, to, amount: nonce + 1 }))
    for (let i = 0; i < signed.length; i += AT_ONCE) {
      await client.transactions.submit({ payload: signed.slice(i, i + AT_ONCE) })
    }
    while ((await client.core.status()).mempool_size > MOST_PENDING) await sleep(50)
  }
  while ((await client.core.status()).mempool_size > 0) await sleep(100)
  // Waits for the work that follows so many payments in this process: checkpoints and memory.
  await sleep(REST_MS)
  const stop = async () => {
    await node.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  return { url: node.url, stop }
}
