/** Genesis, epoch record, vertex, evidence, heartbeat, commit and checkpoint of one small network. */
import { Either } from "effect"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as Fields from "./fields.js"
import { alice, bob, carol, hex, madeUpHash, networkId, people, requireRefused } from "./people.js"

const stake = (coins: number): number => coins * Sats.SATS_PER_COIN

/** Omitted fields have a solo network's values; `written_out` below shows all of them. */
export const files = {
  smallest: {
    network_id: networkId,
    mode: "testnet",
    time: 1_700_000_000_000,
    allocations: [],
    validators: [{ pub_key: alice.publicKey, stake: stake(2_000) }],
  },
  full: {
    network_id: "udg-main",
    mode: "mainnet",
    time: 1_800_000_000_000,
    allocations: [
      { address: carol.address, amount: 5 },
      { address: bob.address, amount: stake(1_000) },
    ],
    validators: [
      { pub_key: carol.publicKey, stake: stake(4_000), commission_percent: 0 },
      { pub_key: alice.publicKey, stake: stake(3_000) },
    ],
    council: [bob.address, alice.address],
    names: [
      { name: "carol", address: carol.address },
      { name: "bob", address: bob.address },
    ],
    treasury: stake(10),
    faucet: null,
    parameters: { min_fee_sats: 2_000, cooldown_rounds: 7_200 },
    protocol: { epoch_rounds: 7_200, default_commission_percent: 5 },
  },
  with_faucet: {
    network_id: "udg-solo-0123456789abcdef",
    mode: "testnet",
    time: 0,
    allocations: [{ address: bob.address, amount: stake(5_000_000) }],
    validators: [{ pub_key: alice.publicKey, stake: stake(100_000) }],
    faucet: { address: bob.address, max_request: stake(100_000) },
  },
}

const genesisVector = (file: unknown) => {
  const genesis = Either.getOrThrow(Genesis.fromFile(file))
  return {
    file,
    written_out: Genesis.toJson(genesis),
    encoded: hex(Genesis.encode(genesis)),
    hash: Genesis.hash(genesis),
  }
}

export const genesis = {
  smallest: genesisVector(files.smallest),
  full: genesisVector(files.full),
  with_faucet: genesisVector(files.with_faucet),
}

const base = madeUpHash("11")

const transactions = [0, 1].map((nonce) =>
  Transaction.sign(
    networkId,
    {
      from: bob.address,
      nonce: Natural.nonce(nonce),
      fee: Sats.make(1_000),
      operation: { _tag: "Transfer", to: carol.address, amount: Sats.make(5), memo: "" },
    },
    bob.key,
  ),
)

const contentOf = (round: number, parents: ReadonlyArray<Header.Parent>, timestamp: number) => ({
  base,
  epoch: Natural.epoch(2),
  round: Natural.round(round),
  parents,
  timestamp: Natural.timestamp(timestamp),
  coinbase: Sats.make(3_333_333),
})

const first = Vertex.sign(contentOf(241, [], 1_700_000_120_000), Vertex.emptyBody, alice.key)
const rival = Vertex.sign(contentOf(241, [], 1_700_000_120_001), Vertex.emptyBody, alice.key)
const proof = Evidence.of(first.header, rival.header)
if (proof === undefined) throw new Error("two headers of one slot are evidence")
const heartbeat = Heartbeat.sign(Natural.commitIndex(117), madeUpHash("22"), carol.key)

const parentOf = ({ header: { round, author, hash } }: Vertex.Vertex): Header.Parent => ({ round, author, hash })
const others = [bob, carol].map(({ key }) => Vertex.sign(contentOf(241, [], 1_700_000_120_000), Vertex.emptyBody, key))
const second = Vertex.sign(
  contentOf(242, [first, ...others].map(parentOf), 1_700_000_120_500),
  { transactions, evidence: [proof], heartbeats: [heartbeat] },
  bob.key,
)

const headerFields = (header: Header.Header) => ({
  base: header.base,
  epoch: header.epoch,
  round: header.round,
  pub_key: header.publicKey,
  author: header.author,
  parents: header.parents,
  timestamp: header.timestamp,
  coinbase: header.coinbase,
  body_hash: header.bodyHash,
  signature: header.signature,
})

const vertexVector = (vertex: Vertex.Vertex) => ({
  header: headerFields(vertex.header),
  signed_bytes: hex(Header.signedBytes(vertex.header)),
  hash: vertex.header.hash,
  encoded_header: hex(Header.encode(vertex.header)),
  transactions: vertex.body.transactions.map(({ id }) => id),
  encoded: hex(vertex.encoded),
})

const latest = Vertex.sign(contentOf(241, [], Natural.LATEST), Vertex.emptyBody, alice.key)

/** Validly signed, and a millisecond too late. */
const tooLate = Vertex.sign(
  { ...contentOf(241, [], 0), timestamp: (Natural.LATEST + 1) as Natural.Timestamp },
  Vertex.emptyBody,
  alice.key,
)
requireRefused("a vertex of the year 10000", Vertex.decode(networkId, tooLate.encoded))

export const vertices = {
  network_id: networkId,
  empty: vertexVector(first),
  with_body: vertexVector(second),
  latest: vertexVector(latest),
  rejected: [{ about: "a timestamp after the year 9999", encoded: hex(tooLate.encoded), reason: "range" }],
  evidence: { first: proof.first.hash, second: proof.second.hash, encoded: hex(Evidence.encode(proof)) },
  heartbeat: {
    pub_key: heartbeat.publicKey,
    commit_index: heartbeat.commitIndex,
    commit_hash: heartbeat.commitHash,
    signed_bytes: hex(Heartbeat.signedBytes(heartbeat)),
    signature: heartbeat.signature,
    encoded: hex(Heartbeat.encode(heartbeat)),
  },
}

const rules: EpochRecord.Rules = {
  epochRounds: 240,
  protocolVersion: ProtocolVersion.FIRST,
  collectionDepthRounds: 60,
  checkpointIntervalRounds: 100,
  roundReward: Sats.make(10_000_000),
  halvingRounds: 105_000_000,
  treasuryPercent: 10,
  councilPercent: 10,
}

export const record: EpochRecord.EpochRecord = {
  epoch: Natural.epoch(3),
  firstRound: Natural.round(481),
  seed: madeUpHash("33"),
  rules,
  members: people
    .map(({ address, publicKey }, i) => ({ address, publicKey, weight: Sats.make(stake(2_000) * (i + 1)) }))
    .sort((a, b) => (a.address < b.address ? -1 : 1)),
}
const total = EpochRecord.totalWeight(record)

const rewards = [0, 1, 105_000_000, 105_000_001, 210_000_001, 2_415_000_001, 2_520_000_001].map((round) => ({
  round,
  round_reward: EpochRecord.roundReward(rules, Natural.round(round)),
  coinbase: record.members.map(({ weight }) => EpochRecord.coinbase(rules, Natural.round(round), weight, total)),
}))

const quorums = [
  [2, 3],
  [3, 3],
  [67, 100],
  [66, 99],
  [1_400_000_000_000_000, Sats.MAX_SUPPLY],
  [1_400_000_000_000_001, Sats.MAX_SUPPLY],
].map(([weight = 0, of = 0]) => ({ weight, total: of, is_quorum: EpochRecord.isQuorum(weight, Sats.make(of)) }))

const commit = Commit.make({
  index: Natural.commitIndex(118),
  epoch: Natural.epoch(2),
  leaderRound: Natural.round(480),
  leaderHash: second.header.hash,
  previous: madeUpHash("22"),
})

const content = {
  epoch: commit.epoch,
  round: commit.leaderRound,
  commitIndex: commit.index,
  commitHash: commit.hash,
  effectsDigest: madeUpHash("44"),
  stateRoot: madeUpHash("55"),
  totalSupply: Sats.make(stake(5_102_000)),
  previous: base,
}

export const checkpointFields = (checkpoint: Checkpoint.Checkpoint) => ({
  ...Fields.ofCheckpoint(checkpoint),
  signed_bytes: hex(Checkpoint.signedBytes(checkpoint)),
  hash: checkpoint.hash,
  encoded: hex(Checkpoint.encode(checkpoint)),
})

const checkpointVector = (nextEpoch: EpochRecord.EpochRecord | null) => {
  const checkpoint = Checkpoint.make({ ...content, nextEpoch })
  const signatures = people
    .map(({ key }) => Checkpoint.sign(checkpoint, key))
    .sort((a, b) => (a.validator < b.validator ? -1 : 1))
  return {
    ...checkpointFields(checkpoint),
    signatures,
    encoded_signed: hex(Checkpoint.encodeSigned({ checkpoint, signatures })),
  }
}

export const epochs = {
  epoch_record: {
    ...Fields.ofEpoch(record),
    last_round: EpochRecord.lastRound(record),
    encoded: hex(EpochRecord.encode(record)),
  },
  rewards,
  quorums,
  commit: {
    index: commit.index,
    epoch: commit.epoch,
    leader_round: commit.leaderRound,
    leader_hash: commit.leaderHash,
    previous: commit.previous,
    hash: commit.hash,
  },
  checkpoints: { of_an_interval: checkpointVector(null), closing: checkpointVector(record) },
}
