/** Committees for tests: members called A, B, C… in address order, with the given weights. */
import { Committee } from "../../src/consensus/dag/Committee.js"
import type { Opening } from "../../src/consensus/output/Opening.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord, Member, Rules } from "../../src/protocol/epoch/EpochRecord.js"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as FakeKeys from "./FakeKeys.js"

export const rules: Rules = {
  epochRounds: 1_000_000,
  protocolVersion: ProtocolVersion.FIRST,
  collectionDepthRounds: 60,
  checkpointIntervalRounds: 100,
  roundReward: Sats.make(10_000_000),
  halvingRounds: 105_000_000,
  treasuryPercent: 10,
  councilPercent: 10,
}

export const seedOf = (name: string): Hash.Hash => Hash.of("udg/seed", new TextEncoder().encode(name))

/** This many keys in the order of their addresses, so that the first is always A. */
export const keysOf = (count: number) =>
  Array.from({ length: count }, (_, i) => FakeKeys.publicKeyOf(`${count}/${i}`))
    .map((publicKey) => ({ publicKey, address: Address.fromPublicKey(publicKey) }))
    .sort((a, b) => (a.address < b.address ? -1 : 1))

export const membersOf = (weights: ReadonlyArray<number>): ReadonlyArray<Member> =>
  keysOf(weights.length).map((key, i) => ({ ...key, weight: Sats.make(weights[i] ?? 0) }))

export const recordOf = (weights: ReadonlyArray<number>, given: Partial<EpochRecord> = {}): EpochRecord => ({
  epoch: Natural.epoch(1),
  firstRound: Natural.round(1),
  seed: seedOf("test"),
  rules,
  members: membersOf(weights),
  ...given,
})

export const committeeOf = (weights: ReadonlyArray<number>, given: Partial<EpochRecord> = {}): Committee =>
  new Committee(recordOf(weights, given))

export const equalWeights = (count: number): ReadonlyArray<number> => Array.from({ length: count }, () => 1)

/** A network at its first round, as the ledger makes it from a genesis: the closing checkpoint of epoch 0. */
export const genesisCheckpoint = (record: EpochRecord): Checkpoint.Checkpoint =>
  Checkpoint.make({
    epoch: Natural.epoch(record.epoch - 1),
    round: Natural.round(record.firstRound - 1),
    commitIndex: Natural.commitIndex(0),
    commitHash: record.seed,
    effectsDigest: Hash.ZERO,
    stateRoot: Hash.ZERO,
    totalSupply: Sats.make(1_000_000),
    nextEpoch: record,
    previous: record.seed,
  })

export const openingOf = (record: EpochRecord): Opening => {
  const { hash, commitIndex, commitHash, round } = genesisCheckpoint(record)
  return {
    base: hash,
    record,
    position: { index: commitIndex, hash: commitHash, leaderRound: round, time: Natural.timestamp(0) },
  }
}

/** The initial state of a guard whose disk is known to be complete. */
export const WITH_MEMORY = { heldBack: [], hasMemory: true, word: null } as const
