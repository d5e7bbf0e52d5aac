/**
 * A transaction in the total order: a vertex two rounds below the leader that orders it, and the commits up to a
 * checkpoint.
 */
import { Either } from "effect"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Inclusion from "../../src/protocol/epoch/Inclusion.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import { epochs } from "./consensus.js"
import { alice, bob, carol, hex, madeUpHash, networkId, requireRefused } from "./people.js"

const record = Either.getOrThrow(EpochRecord.decode(Uint8Array.from(Buffer.from(epochs.epoch_record.encoded, "hex"))))
const { epoch, firstRound, rules } = record

const transaction = Transaction.sign(
  networkId,
  {
    from: bob.address,
    nonce: Natural.nonce(3),
    fee: Sats.make(1_000),
    operation: { _tag: "Transfer", to: carol.address, amount: Sats.make(150_000_000), memo: "" },
  },
  bob.key,
)

const vertexAt = (
  round: Natural.Round,
  parents: ReadonlyArray<Header.Header>,
  transactions: Vertex.Body["transactions"] = [],
  ofEpoch = epoch,
): Vertex.Vertex =>
  Vertex.sign(
    {
      base: madeUpHash("33"),
      epoch: ofEpoch,
      round,
      parents: parents.map(({ round, author, hash }) => ({ round, author, hash })),
      timestamp: Natural.timestamp(500 * round),
      coinbase: Sats.make(0),
    },
    { ...Vertex.emptyBody, transactions },
    alice.key,
  )

/** The rounds from this one on. */
const roundAfter = (rounds: number): Natural.Round => Natural.round(firstRound + rounds)

/** A path of three vertices; the leader is `above` rounds above the vertex with the transaction. */
const dag = (above: number, ofEpoch = epoch) => {
  const vertex = vertexAt(roundAfter(10), [], [transaction], ofEpoch)
  const between = vertexAt(roundAfter(11), [vertex.header])
  const leader = vertexAt(roundAfter(10 + above), [between.header])
  return { vertex, between, leader }
}

interface Proof {
  readonly hash: Hash
  readonly checkpoint: Inclusion.Under
  readonly inclusion: Inclusion.Inclusion
}

const proofOf = ({ vertex, between, leader }: ReturnType<typeof dag>): Proof => {
  const previous = madeUpHash("22")
  const first = {
    index: Natural.commitIndex(118),
    epoch,
    leaderRound: leader.header.round,
    leaderHash: leader.header.hash,
  }
  const next = {
    index: Natural.commitIndex(119),
    epoch,
    leaderRound: Natural.round(leader.header.round + 1),
    leaderHash: madeUpHash("77"),
  }
  const { hash } = Commit.make({ ...next, previous: Commit.make({ ...first, previous }).hash })
  return {
    hash: transaction.id,
    checkpoint: { epoch, commitIndex: next.index, commitHash: hash },
    inclusion: {
      vertex: vertex.encoded,
      headers: [leader, between].map(({ header }) => Header.encode(header)),
      previous,
      commits: [first, next],
    },
  }
}

const ours = dag(2)
const good = proofOf(ours)

const changed = (change: Partial<Inclusion.Inclusion>): Proof => ({
  ...good,
  inclusion: { ...good.inclusion, ...change },
})

const [first, next] = good.inclusion.commits
const [leaderBytes, betweenBytes] = good.inclusion.headers
if (first === undefined || next === undefined || leaderBytes === undefined || betweenBytes === undefined) {
  throw new Error("two commits and two headers expected")
}

const spoilt = Uint8Array.from(ours.vertex.encoded)
spoilt[spoilt.length - 3] = (spoilt[spoilt.length - 3] ?? 0) ^ 1

const refused: ReadonlyArray<readonly [reason: string, proof: Proof]> = [
  ["another transaction", { ...good, hash: madeUpHash("99") }],
  ["no commits", changed({ commits: [] })],
  ["a commit is left out", changed({ commits: [next] })],
  ["a gap in the numbers of the commits", changed({ commits: [first, { ...next, index: Natural.commitIndex(120) }] })],
  ["another commit before them", changed({ previous: madeUpHash("23") })],
  ["another leader", changed({ commits: [{ ...first, leaderHash: madeUpHash("24") }, next] })],
  [
    "another commit under the checkpoint",
    { ...good, checkpoint: { ...good.checkpoint, commitHash: madeUpHash("25") } },
  ],
  ["another number of the checkpoint's commit", { ...good, checkpoint: { ...good.checkpoint, commitIndex: 118 } }],
  ["a checkpoint of another epoch", { ...good, checkpoint: { ...good.checkpoint, epoch: epoch + 1 } }],
  ["the path does not begin with the leader", changed({ headers: [betweenBytes] })],
  ["a header is left out of the path", changed({ headers: [leaderBytes] })],
  ["the vertex is no parent", changed({ vertex: vertexAt(roundAfter(9), [], [transaction]).encoded })],
  ["the body is not that of the header", changed({ vertex: spoilt })],
  ["a byte too many", changed({ vertex: Uint8Array.of(...ours.vertex.encoded, 0) })],
  ["the vertex is at the collection depth of the leader", proofOf(dag(rules.collectionDepthRounds))],
  ["a vertex of another epoch", proofOf(dag(2, Natural.epoch(epoch + 1)))],
]

const holds = ({ hash, checkpoint, inclusion }: Proof): Either.Either<unknown, unknown> =>
  Either.flatMap(Inclusion.verify(networkId, hash, checkpoint, inclusion), (included) =>
    Inclusion.isOrdered(included, record) ? Either.right(included) : Either.left("not ordered"),
  )

const fieldsOf = ({ hash, checkpoint, inclusion: { vertex, headers, previous, commits } }: Proof) => ({
  hash,
  vertex: hex(vertex),
  headers: headers.map(hex),
  previous,
  commits: commits.map(({ index, epoch, leaderRound, leaderHash }) => ({
    index,
    epoch,
    leader_round: leaderRound,
    leader_hash: leaderHash,
  })),
  checkpoint: { epoch: checkpoint.epoch, commit_index: checkpoint.commitIndex, commit_hash: checkpoint.commitHash },
})

export const inclusion = () => {
  const last = proofOf(dag(rules.collectionDepthRounds - 1))
  const alone = proofOf(ours)
  const lone = {
    ...alone,
    inclusion: { ...alone.inclusion, headers: [], commits: [{ ...first, leaderHash: ours.vertex.header.hash }] },
  }
  const { hash } = Commit.make({ ...first, leaderHash: ours.vertex.header.hash, previous: alone.inclusion.previous })
  const itself = { ...lone, checkpoint: { epoch, commitIndex: first.index, commitHash: hash } }
  for (const proof of [good, last, itself]) Either.getOrThrow(holds(proof))
  for (const [reason, proof] of refused) requireRefused(reason, holds(proof))
  return {
    network_id: networkId,
    epoch_record: epochs.epoch_record.encoded,
    proofs: [
      { about: "two headers above the vertex, and one commit after the leader's", ...fieldsOf(good) },
      { about: "the vertex is the leader, and its commit that of the checkpoint", ...fieldsOf(itself) },
      { about: "the lowest round that the leader's commit orders for certain", ...fieldsOf(last) },
    ],
    refused: refused.map(([reason, proof]) => ({ reason, ...fieldsOf(proof) })),
  }
}
