/** Limits on everything a replica keeps, whatever its peers send, checked during a run. */

import { bounds } from "../../src/consensus/admission/WaitingRoom.js"
import { MAX_HELD_BACK } from "../../src/consensus/SigningGuard.js"
import { ACCOUNTS as CREDITED } from "../../src/ledger/pending/Credit.js"
import { PEERS } from "../../src/ledger/pending/PeerBudget.js"
import { ACCOUNTS } from "../../src/ledger/pending/Unpaid.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import { REMEMBERED } from "../../src/replica/asking/Relaying.js"
import type { Replica } from "../../src/replica/Replica.js"
import { Violation } from "./Witness.js"

/**
 * Adversaries have less than a third of the seats and make at most three vertices for a slot, one more when they
 * reform, and three more after each restart. That is the most that enters while nothing moves.
 */
const VERTICES_PER_SEAT_AND_ROUND = 4
/** Memory grows with each round without a commit. Storms are not that long. */
const ROUNDS_WITHOUT_COMMIT = 60
/** Vertices of the next epoch that arrive before its opening is signed. */
const EARLY_PER_SEAT = 3
const CANDIDATES_PER_SEAT = 8
/** Epochs known at a time: the running one and the one before. */
const EPOCHS = 2
/** The running epoch, the one before, and the next, whose vertices can arrive before it opens here. */
const COMMITTEES_TO_TELL = 3
/** Views of two closes and of four later checkpoints. */
const VIEWS = 6
/** A machine with a copy of the key signs in the same slots. */
const HEADERS_PER_OWN_SLOT = 2
/** The own vertex that is on its way to the disk. */
const UNINSERTED = 2

type Held = Replica["held"]

/** The limits at the replica's current position. */
const limitsOf = ({ core }: Pick<Replica, "core">): Held => {
  const { dag, position, committee, opening, isClosed } = core.epoch
  const { epochRounds, collectionDepthRounds } = opening.record.rules
  const seats = committee.size
  // The closing commit collects nothing: the whole epoch is dropped when the next one begins.
  const uncommitted = isClosed ? ROUNDS_WITHOUT_COMMIT : dag.highestRound - position.leaderRound
  const rows = collectionDepthRounds + Math.max(0, Math.min(ROUNDS_WITHOUT_COMMIT, uncommitted))
  // An epoch runs past its end until a commit closes it.
  const rounds = EPOCHS * (epochRounds + ROUNDS_WITHOUT_COMMIT)
  const vertices = rows * seats * VERTICES_PER_SEAT_AND_ROUND
  return {
    vertices,
    slots: rows,
    clocks: seats,
    waiting: bounds.vertices * seats,
    wanted: bounds.missing * seats,
    asked: bounds.missing * seats,
    early: EARLY_PER_SEAT * Limits.COMMITTEE_MEMBERS,
    candidates: 2 * CANDIDATES_PER_SEAT * Limits.COMMITTEE_MEMBERS,
    commits: rounds,
    highestHeaders: COMMITTEES_TO_TELL * Limits.COMMITTEE_MEMBERS,
    guarded: HEADERS_PER_OWN_SLOT * rounds,
    heldBack: MAX_HELD_BACK,
    pending: Limits.MEMPOOL_TRANSACTIONS,
    included: (vertices + UNINSERTED) * Limits.VERTEX_TRANSACTIONS,
    unpaid: ACCOUNTS,
    credit: CREDITED,
    budgets: 2 * PEERS,
    unordered: vertices + UNINSERTED,
    announced: 4 * Limits.MEMPOOL_TRANSACTIONS,
    relayed: REMEMBERED + 4 * Limits.COMMITTEE_MEMBERS,
    evidence: 2 * Limits.COMMITTEE_MEMBERS,
    heartbeats: 10 * Limits.COMMITTEE_MEMBERS,
    checkpoints: rounds,
    views: VIEWS,
    ownHeaders: rounds,
    recovered: rounds,
  }
}

export const expectBounded = (machine: string, replica: Replica): void => {
  const held = replica.held
  const limits = limitsOf(replica)
  for (const what of Object.keys(limits) as ReadonlyArray<keyof Held>) {
    if (held[what] <= limits[what]) continue
    throw new Violation(machine, `keeps ${held[what]} ${what}, more than ${limits[what]}`)
  }
}
