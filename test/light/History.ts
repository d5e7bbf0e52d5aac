/**
 * Simulated networks for tests of the light client: changing committees, the checkpoints they sign, and accounts with
 * proofs.
 */
import { createHash } from "node:crypto"
import { Option } from "effect"
import { toHex } from "#crypto"
import * as Fields from "../../scripts/vectors/fields.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import { SecretKey, type Signer } from "../../src/protocol/identity/Keys.js"
import type { Name } from "../../src/protocol/identity/Name.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import * as StateRecord from "../../src/protocol/state/StateRecord.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { recordOf, rules, seedOf } from "../consensus/TestCommittee.js"

export type Signed = Checkpoint.SignedCheckpoint

export const SIZE = 6
const ROUNDS = 40

type SignerOf = (name: string) => Signer

const fakeSignerOf: SignerOf = (name) => {
  const publicKey = FakeKeys.publicKeyOf(name)
  return { publicKey, sign: FakeKeys.signWith(publicKey) }
}

/** Keys with real signatures, created once per name. */
export const signing = (): SignerOf => {
  const signers = new Map<string, Signer>()
  return (name) => {
    const known = signers.get(name)
    if (known !== undefined) return known
    const made = Option.getOrThrow(SecretKey.fromSeed(createHash("sha256").update(name).digest()))
    signers.set(name, made)
    return made
  }
}

export const addressOf = (name: string): Address.Address => Address.fromPublicKey(FakeKeys.publicKeyOf(name))

export const alice: AccountRecord.AccountRecord = {
  ...AccountRecord.empty,
  balance: Sats.make(150_000_000_000),
  nonce: Natural.nonce(7),
  name: "alice" as Name,
  stake: { amount: Sats.make(200_000_000_000), leaving: null },
}

type Account = readonly [Address.Address, AccountRecord.AccountRecord]

/** Enough accounts that a proof has siblings. */
const others = Array.from(
  { length: 200 },
  (_, i): Account => [addressOf(`other ${i}`), { ...AccountRecord.empty, balance: Sats.make(i + 1) }],
)

const trieOf = (accounts: ReadonlyArray<Account>): Trie.Trie =>
  Trie.apply(
    Trie.empty,
    accounts.map(([address, record]) => {
      const key = Uint8Array.from(Buffer.from(address, "hex"))
      const value = StateRecord.encode({ kind: "Account", key, value: AccountRecord.encode(record) })
      return { key: StateKey.ofAccount(address), value }
    }),
  )

export const trie = trieOf([[addressOf("alice"), alice], ...others])

/** The same state except for Alice's balance. */
export const richTrie = trieOf([[addressOf("alice"), { ...alice, balance: Sats.make(1e15) }], ...others])

export interface History {
  readonly committeeOf: (epoch: number) => EpochRecord
  /** Closing checkpoints of epochs 1 to `last`. */
  readonly closing: ReadonlyArray<Signed>
  /** A checkpoint within the epoch after them. */
  readonly running: Signed
  /** Signs as the committee of an epoch. */
  readonly sign: (checkpoint: Checkpoint.Checkpoint, epoch: number) => Signed
}

export interface Shape {
  readonly last: number
  /** Members of a committee. */
  readonly size?: number
  /** How many of them are replaced in the next epoch. */
  readonly turnover?: number
  /** A fork of the history from this epoch on. */
  readonly story?: string
  readonly from?: number
  readonly signerOf?: SignerOf
  readonly state?: Trie.Trie
  /** The epoch whose committee signs an epoch's checkpoints; the same by default. */
  readonly signedAs?: (epoch: number) => number
  /** The protocol version of an epoch; the first one by default. */
  readonly versionOf?: (epoch: number) => number
}

export const make = (shape: Shape): History => {
  const { last, turnover = 1, story = "ours", from = 1, signerOf = fakeSignerOf, state = trie } = shape
  const { size = SIZE, signedAs = (epoch) => epoch, versionOf = () => rules.protocolVersion } = shape
  const signersOf = (epoch: number) => Array.from({ length: size }, (_, i) => signerOf(`m${turnover * epoch + i}`))
  const committeeOf = (epoch: number): EpochRecord => {
    const members = signersOf(epoch)
      .map(({ publicKey }) => ({ publicKey, address: Address.fromPublicKey(publicKey), weight: Sats.make(10) }))
      .sort((a, b) => (a.address < b.address ? -1 : 1))
    const firstRound = Natural.round((epoch - 1) * ROUNDS + 1)
    const byVersion = { ...rules, protocolVersion: versionOf(epoch) }
    return recordOf([1], { epoch: Natural.epoch(epoch), firstRound, members, rules: byVersion })
  }
  const sign = (checkpoint: Checkpoint.Checkpoint, epoch: number): Signed => ({
    checkpoint,
    signatures: signersOf(epoch)
      .map((signer) => Checkpoint.sign(checkpoint, signer))
      .sort((a, b) => (a.validator < b.validator ? -1 : 1)),
  })
  const signed = (epoch: number, round: number, previous: Hash.Hash, nextEpoch: EpochRecord | null): Signed => {
    const checkpoint = Checkpoint.make({
      epoch: Natural.epoch(epoch),
      round: Natural.round(round),
      commitIndex: Natural.commitIndex(round),
      commitHash: seedOf(`${epoch >= from ? story : "ours"} ${round}`),
      effectsDigest: Hash.ZERO,
      stateRoot: epoch >= from ? state.hash : trie.hash,
      totalSupply: Sats.make(1),
      nextEpoch,
      previous,
    })
    return sign(checkpoint, signedAs(epoch))
  }
  const closing: Array<Signed> = []
  let previous = Hash.ZERO
  for (let epoch = 1; epoch <= last; epoch++) {
    const next = signed(epoch, epoch * ROUNDS, previous, committeeOf(epoch + 1))
    closing.push(next)
    previous = next.checkpoint.hash
  }
  return { committeeOf, closing, running: signed(last + 1, last * ROUNDS + 20, previous, null), sign }
}

type Signatures = Signed["signatures"]

export const resigned = ({ checkpoint, signatures }: Signed, change: (list: Signatures) => Signatures): Signed => ({
  checkpoint,
  signatures: change(signatures),
})

type Json = Record<string, unknown>

/** As in a node's response. */
export const checkpointJson = ({ checkpoint, signatures }: Signed): Json => ({
  ...Fields.ofCheckpoint(checkpoint),
  hash: checkpoint.hash,
  signatures,
})

/** The same for an account of this state. */
export const accountJson = (address: Address.Address, signed: Signed, state = trie): Json => {
  const key = StateKey.ofAccount(address)
  const { siblings, leaf } = Trie.prove(state, key)
  return {
    address,
    key,
    record: Option.getOrNull(Option.map(Option.fromNullable(Trie.get(state, key)), toHex)),
    proof: { siblings, leaf: leaf.map(({ key, value }) => ({ key, value: toHex(value) })) },
    checkpoint: checkpointJson(signed),
  }
}

export const bytesOf = (json: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(json))
