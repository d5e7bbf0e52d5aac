/** Presence in an epoch: members' vertices in its second half, and heartbeats of validators that want to join. */

import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import * as Address from "../../protocol/identity/Address.js"
import type * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Heartbeat } from "../../protocol/vertex/Heartbeat.js"
import type { RecentCommit } from "../tables/Records.js"
import type { State } from "../tables/State.js"

const QUARTERS = 4
const EVERY_QUARTER = 0b1111
const SECOND_HALF = 0b10000

/** The quarter of the epoch in which a round lies, 0 to 3. Rounds past the epoch's nominal end count in the last. */
const quarterOf = ({ firstRound, rules }: EpochRecord, round: Natural.Round): number =>
  Math.min(QUARTERS - 1, Sats.mulDivFloor(round - firstRound, QUARTERS, rules.epochRounds))

/** At most a quarter of an epoch below the commit that orders the heartbeat. */
const isRecent = ({ rules }: EpochRecord, commit: RecentCommit, round: Natural.Round): boolean =>
  (round - commit.leaderRound) * QUARTERS <= rules.epochRounds

const mark = (state: State, validator: string, bit: number): void => {
  const seen = state.presence.get(validator) ?? 0
  if ((seen & bit) === 0) state.presence.set(validator, seen | bit)
}

/** Whether the account has changed from this key to another. */
const isReplaced = (state: State, account: Address.Address, validator: Address.Address): boolean => {
  const { publicKey } = state.extrasOf(account)
  return publicKey !== null && Address.fromPublicKey(publicKey) !== validator
}

/** Counts for active stake outside the committee, if it is of its newest key and names a recent commit of this chain. */
export const apply = (state: State, { validator, commitIndex, commitHash }: Heartbeat): void => {
  const { record } = state.epoch
  const commit = state.recentCommits.get(StateKey.counter(commitIndex))
  if (commit === undefined || commit.hash !== commitHash || !isRecent(record, commit, state.round)) return
  const account = state.accountOf(validator)
  if (state.isMember(account) || !state.staker(account)?.isActive || isReplaced(state, account, validator)) return
  mark(state, account, 1 << quarterOf(record, state.round))
}

/** Counts a finalized vertex of a member. */
export const witness = (state: State, { author, round }: Header): void => {
  const { firstRound, rules } = state.epoch.record
  if (round >= firstRound + Sats.divideFloor(rules.epochRounds, 2) && state.memberPosition(author) !== undefined) {
    mark(state, state.accountOf(author), SECOND_HALF)
  }
}

export const wasPresentInSecondHalf = (state: State, validator: string): boolean =>
  ((state.presence.get(validator) ?? 0) & SECOND_HALF) !== 0

export const beatEveryQuarter = (state: State, validator: string): boolean =>
  ((state.presence.get(validator) ?? 0) & EVERY_QUARTER) === EVERY_QUARTER

/** Keeps the commit just executed for heartbeats to name, and drops commits that are too old for that. */
export const remember = (state: State, index: Natural.CommitIndex, commit: RecentCommit): void => {
  const { record } = state.epoch
  // The kept commits are contiguous, so the oldest index follows from their number.
  for (let oldest = index - state.recentCommits.size; oldest < index; oldest++) {
    const key = StateKey.counter(oldest)
    const held = state.recentCommits.get(key)
    if (held !== undefined && isRecent(record, held, state.round)) break
    state.recentCommits.delete(key)
  }
  state.recentCommits.set(StateKey.counter(index), commit)
}

/** At an epoch's close: of its commits, heartbeats of the next epoch can name only the closing one. */
export const startOver = (state: State, closing: Natural.CommitIndex): void => {
  state.presence.clear()
  const kept = StateKey.counter(closing)
  for (const key of [...state.recentCommits.keys()]) if (key !== kept) state.recentCommits.delete(key)
}
