/** What a node is waiting for (docs/recovery.md), and whether its clock is right, for the log and the health report. */
import { Effect } from "effect"
import type { Seen } from "../../consensus/Pauses.js"
import type { Following, Recovery, Signing } from "../../consensus/Recovery.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import * as Log from "../log/Log.js"

const log = Log.for("validator")

export interface Waiting {
  readonly following: Following["_tag"]
  readonly signing: Signing["_tag"]
  readonly waitsFor: ReadonlyArray<string>
  /** The remaining silence; null if it waits for more than time. */
  readonly signsInSeconds: number | null
  /** The network stands still, possibly until the operator acts: see docs/recovery.md. */
  readonly needsOperator: boolean
}

export interface View {
  readonly recovery: Recovery
  /** How far this node's wall clock is ahead of the committee's median; null before a quorum has been heard. */
  readonly clockAheadMs: number | null
  readonly wallAheadMs: number
  readonly pauses: Seen
}

/** A lasting condition is logged again after this time. */
const SAID_EVERY_MS = 60_000
/** Smaller differences need no warning: vertices spend time in transit. */
const RIGHT_INTERVALS = 4
const LEAST_AHEAD_MS = 2_000
const LEAST_STEP_MS = 1_000
/** After fetched vertices, whose times are past, hearing the others' clocks takes some rounds. */
const SETTLED_MS = 5_000
const MEMBERS_NAMED = 5

/** How far off a clock may be before the operator is warned. */
export const mostAheadMs = (roundIntervalMs: number): number =>
  Math.max(LEAST_AHEAD_MS, RIGHT_INTERVALS * roundIntervalMs)

/** The account of the validator that signs with a key. */
type AccountOf = (key: Address) => Address

const named = (members: ReadonlyArray<Address>, accountOf: AccountOf): string => {
  const more = members.length - MEMBERS_NAMED
  const names = members.slice(0, MEMBERS_NAMED).map(accountOf).join(", ")
  return members.length === 0 ? "nobody" : more > 0 ? `${names} and ${more} more` : names
}

type Of<Tag extends Signing["_tag"]> = Extract<Signing, { readonly _tag: Tag }>

const followingWaitsFor = (state: Following, accountOf: AccountOf): string | null => {
  switch (state._tag) {
    case "InStep":
      return null
    case "Behind":
      return `rounds ${state.round + 1} to ${state.reachedRound}, which a quorum already has`
    case "EpochOver":
      return `the vertices that end epoch ${state.epoch}, whose close a quorum has signed`
    case "Closing":
      return `a quorum to sign the close of epoch ${state.epoch}; missing: ${named(state.lacks, accountOf)}`
    case "Standstill":
      return `a quorum of vertices in round ${state.round}; missing: ${named(state.lacks, accountOf)}`
    case "Joining":
      return `the closing state of epoch ${state.epoch}`
  }
}

const REFUSED = {
  elsewhere: "; the --sign-from-round given is of another epoch or network",
  "too low": "; the --sign-from-round given is not above what the key is known to have signed",
} as const

/** Includes the command to type: the reader may have no time for a page. */
const forgottenWaitsFor = (
  { epoch, fromRound, base, bound, lacks, refused }: Of<"Forgotten">,
  accountOf: AccountOf,
): string => {
  const awaited =
    bound === null
      ? `members with more than two thirds of the stake to report their rounds; missing: ${named(lacks, accountOf)}`
      : `a quorum to pass round ${bound}, up to which this key may have signed`
  return (
    `${awaited}; until then it does not sign, because this disk was lost or rolled back and lacks some of what its key has ` +
    `signed. Only if you are certain that the key has signed nothing from round ${fromRound} of epoch ${epoch} on, start the node ` +
    `once with --sign-from-round ${epoch}:${fromRound}:${base}${refused === null ? "" : REFUSED[refused]}`
  )
}

const signingWaitsFor = (state: Signing, accountOf: AccountOf): string | null => {
  switch (state._tag) {
    case "NoSeat":
    case "Signing":
      return null
    case "Asking":
      return `a quorum to report what this key has signed; missing: ${named(state.lacks, accountOf)}`
    case "Forgotten":
      return forgottenWaitsFor(state, accountOf)
    case "Silent": {
      const seconds = Math.ceil(state.msLeft / 1_000)
      const connected = state.isConnected ? "" : "; the timer is stopped while no quorum is connected"
      return (
        `${seconds} s without another vertex signed by this key, which has signed vertices up to round ` +
        `${state.round} that are not on this disk${connected}`
      )
    }
  }
}

/** The present wait; null for a node that is up to date and may sign. */
export const waitingOf = ({ following, signing }: Recovery, accountOf: AccountOf = (key) => key): Waiting | null => {
  const waits = [followingWaitsFor(following, accountOf), signingWaitsFor(signing, accountOf)]
  const waitsFor = waits.filter((wait) => wait !== null)
  if (waitsFor.length === 0) return null
  const signsInSeconds = signing._tag === "Silent" ? Math.ceil(signing.msLeft / 1_000) : null
  const needsOperator = signing._tag === "Forgotten" && following._tag === "Standstill"
  return { following: following._tag, signing: signing._tag, waitsFor, signsInSeconds, needsOperator }
}

/** Whether to log the wait: others have their own log lines or are over in a moment. */
const isForPeople = ({ following, signing }: Waiting): boolean =>
  following === "Standstill" ||
  following === "Closing" ||
  signing === "Asking" ||
  signing === "Silent" ||
  signing === "Forgotten"

/**
 * Every epoch ends with a brief close and every start with a brief standstill: only a second look shows a real wait.
 */
const isBriefByNature = (following: Following["_tag"]): boolean => following === "Closing" || following === "Standstill"

const isFetching = (following: Following["_tag"]): boolean =>
  following === "Behind" || following === "EpochOver" || following === "Joining"

export class Watch {
  readonly #mostAheadMs: number
  readonly #settledMs: number
  readonly #accountOf: AccountOf | undefined
  #waiting: Waiting | null = null
  #clockAheadMs: number | null = null
  #fetchedAt: Timestamp | null = null
  #lastFollowing: Following["_tag"] = "InStep"
  #said: { readonly key: string; readonly at: Timestamp } | null = null
  #clockSaidAt: Timestamp | null = null
  #wallAheadMs: number | null = null
  #pausesSaid: { readonly count: number; readonly at: Timestamp } | null = null

  constructor(roundIntervalMs: number, accountOf?: AccountOf) {
    this.#accountOf = accountOf
    this.#mostAheadMs = mostAheadMs(roundIntervalMs)
    this.#settledMs = Math.max(SETTLED_MS, RIGHT_INTERVALS * roundIntervalMs)
  }

  get waiting(): Waiting | null {
    return this.#waiting
  }

  /** As of the last check; null while the clock is right or unknown. */
  get wrongClockAheadMs(): number | null {
    return this.#isClockWrong ? this.#clockAheadMs : null
  }

  /** As of the last check, right or wrong. */
  get clockAheadMs(): number | null {
    return this.#clockAheadMs
  }

  get #isClockWrong(): boolean {
    return this.#clockAheadMs !== null && Math.abs(this.#clockAheadMs) > this.#mostAheadMs
  }

  /** Logs changes. Call periodically. */
  look({ recovery, clockAheadMs, wallAheadMs, pauses }: View, now: Timestamp): Effect.Effect<void> {
    const { _tag } = recovery.following
    const isMoment = isBriefByNature(_tag) && _tag !== this.#lastFollowing
    this.#lastFollowing = _tag
    this.#waiting = waitingOf(isMoment ? { ...recovery, following: { _tag: "InStep" } } : recovery, this.#accountOf)
    // What arrives right after a start can be old too: the node does not know yet how far the others are.
    if (isFetching(_tag) || this.#fetchedAt === null) this.#fetchedAt = now
    const isHeard = now - this.#fetchedAt >= this.#settledMs
    this.#clockAheadMs = isHeard ? clockAheadMs : null
    const stepMs = wallAheadMs - (this.#wallAheadMs ?? wallAheadMs)
    this.#wallAheadMs = wallAheadMs
    const signs = recovery.signing._tag !== "NoSeat"
    return Effect.all(
      [
        this.#sayStep(stepMs),
        signs ? this.#sayPauses(pauses, now) : Effect.void,
        this.#sayWaiting(now),
        this.#sayClock(now),
      ],
      { discard: true },
    )
  }

  #sayPauses({ count, lastMs }: Seen, now: Timestamp): Effect.Effect<void> {
    const said = this.#pausesSaid
    const times = count - (said?.count ?? 0)
    if (times === 0 || (said !== null && now - said.at < SAID_EVERY_MS)) return Effect.void
    this.#pausesSaid = { count, at: now }
    return log.warn("the process stalled, or its machine was too busy: it asked the committee again before signing", {
      times,
      last_ms: lastMs,
    })
  }

  #sayStep(stepMs: number): Effect.Effect<void> {
    return Math.abs(stepMs) > LEAST_STEP_MS
      ? log.warn("the wall clock was set, or the machine was suspended", { by_ms: stepMs })
      : Effect.void
  }

  #sayWaiting(now: Timestamp): Effect.Effect<void> {
    const waiting = this.#waiting
    const said = this.#said
    if (waiting === null || !isForPeople(waiting)) {
      this.#said = null
      return said === null ? Effect.void : log.info("recovered: no longer waiting")
    }
    const key = `${waiting.following} ${waiting.signing}`
    if (said?.key === key && now - said.at < SAID_EVERY_MS) return Effect.void
    this.#said = { key, at: now }
    const { following, signing, waitsFor } = waiting
    return log.warn(`waiting for ${waitsFor.join("; ")}`, { following, signing })
  }

  #sayClock(now: Timestamp): Effect.Effect<void> {
    const saidAt = this.#clockSaidAt
    if (!this.#isClockWrong) {
      this.#clockSaidAt = null
      return saidAt === null ? Effect.void : log.info("the wall clock agrees with the committee's again")
    }
    if (saidAt !== null && now - saidAt < SAID_EVERY_MS) return Effect.void
    this.#clockSaidAt = now
    return log.error("the wall clock of this machine is wrong by the committee's median: correct it", {
      ahead_ms: this.#clockAheadMs,
    })
  }
}
