/** Regular DAGs and the checkpoint that closes their epoch, for tests of the DAG's surroundings. */

import type { Committee } from "../../src/consensus/dag/Committee.js"
import type { Epoch } from "../../src/consensus/Epoch.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import * as FakeKeys from "./FakeKeys.js"
import { seedOf } from "./TestCommittee.js"
import { parentOf, type VertexBuilder } from "./VertexBuilder.js"

/** Vertices of these seats in the epoch's first rounds, each with the whole previous round as parents. */
export const grown = (
  builder: VertexBuilder,
  rounds: number,
  seats: ReadonlyArray<number> = [0, 1, 2, 3],
): ReadonlyArray<Vertex> => {
  const { firstRound } = builder.opening.record
  let below: ReadonlyArray<Vertex> = []
  return Array.from({ length: rounds }, (_, i) => {
    below = seats.map((seat) => builder.make(seat, firstRound + i, below.map(parentOf)))
    return below
  }).flat()
}

/** A vertex whose parents do not exist. */
export const floating = (builder: VertexBuilder, seat: number, round: number): Vertex => {
  const below = [0, 1, 2].map((other) => builder.make(other, round - 1, []))
  return builder.make(seat, round, below.map(parentOf))
}

/** The checkpoint of the epoch's last commit. The next epoch has the same committee by default. */
export const closingOf = ({ position, opening }: Epoch, next: Partial<EpochRecord> = {}): Checkpoint.Closing => {
  const checkpoint = Checkpoint.make({
    epoch: opening.record.epoch,
    round: position.leaderRound,
    commitIndex: position.index,
    commitHash: position.hash,
    effectsDigest: seedOf("effects"),
    stateRoot: seedOf("state"),
    totalSupply: Sats.make(1_000),
    nextEpoch: {
      ...opening.record,
      epoch: Natural.epoch(opening.record.epoch + 1),
      firstRound: Natural.round(position.leaderRound + 1),
      ...next,
    },
    previous: opening.base,
  })
  if (!Checkpoint.isClosing(checkpoint)) throw new Error("a checkpoint without a next epoch closes nothing")
  return checkpoint
}

export const signatureOf = (
  committee: Committee,
  checkpoint: Checkpoint.Checkpoint,
  seat: number,
): Checkpoint.CheckpointSignature => {
  const { address, publicKey } = committee.member(seat)
  return { validator: address, signature: FakeKeys.signWith(publicKey)(Checkpoint.signedBytes(checkpoint)) }
}

/** Two vertices of the leader of round 1, each with the votes of all others and the certificates of two of them. */
export const twoCertified = (builder: VertexBuilder, first: ReadonlyArray<Vertex>) => {
  const leader = builder.committee.leaderOf(Natural.round(1))
  const other = builder.make(leader, 1, [], { timestamp: Natural.timestamp(77) })
  const voters = [0, 1, 2, 3].filter((seat) => seat !== leader)
  const voting = (on: ReadonlyArray<Vertex>) => voters.map((seat) => builder.make(seat, 2, on.map(parentOf)))
  const forOne = voting(first)
  const forOther = voting(first.map((vertex, seat) => (seat === leader ? other : vertex)))
  const certifying = (votes: ReadonlyArray<Vertex>, seat = 0) => builder.make(seat, 3, votes.map(parentOf))
  const [one, two] = voters
  return {
    leader,
    other,
    votes: [...forOne, ...forOther],
    certificates: [certifying(forOne, one), certifying(forOther, two)] as const,
  }
}
