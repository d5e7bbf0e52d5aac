/** What a replica may keep, whatever the others send it: a limit for everything that grows, held in the midst of a run. */

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
 * Adversaries are less than a third, and make at most three vertices of a slot, one more when they reform, and three more
 * after each restart. So many at most enter where nothing moves.
 */
const VERTICES_PER_SEAT_AND_ROUND = 4
/** A network that makes rounds but no commits for so long would grow without limit; storms have their quiet hours. */
const ROUNDS_WITHOUT_COMMIT = 60
/** Of the next epoch, while its opening is not signed. */
const EARLY_PER_SEAT = 3
const CANDIDATES_PER_SEAT = 8
/** Known at a time: the running one and the one before. */
const EPOCHS = 2
/** Of the running epoch and the one before, and of the next, whose vertices may come before it opens here. */
const COMMITTEES_TO_TELL = 3
/** Those of two closes and four since. */
const VIEWS = 6
/** A machine with a copy of the key signs in the same slots. */
const HEADERS_PER_OWN_SLOT = 2
/** Of the own vertex that is on its way to the disk. */
const UNINSERTED = 2

type Held = Replica["held"]

/** The most there may be, given where the replica stands. */
const limitsOf = ({ core }: Pick<Replica, "core">): Held => {
  const { dag, position, committee, opening, isClosed } = core.epoch
  const { epochRounds, collectionDepthRounds } = opening.record.rules
  const seats = committee.size
  // The closing commit collects nothing: the whole epoch is let go when the next one begins.
  const uncommitted = isClosed ? ROUNDS_WITHOUT_COMMIT : dag.highestRound - position.leaderRound
  const rows = collectionDepthRounds + Math.max(0, Math.min(ROUNDS_WITHOUT_COMMIT, uncommitted))
  // An epoch runs over its end while the network finds no commit that closes it.
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
