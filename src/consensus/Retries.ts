/**
 * Requests missing data and resends this node's last messages when nothing arrives. Lost messages must not halt the
 * network.
 */
import type { Checkpoint } from "../protocol/epoch/Checkpoint.js"
import type { Address } from "../protocol/identity/Address.js"
import type { Round, Timestamp } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Sats from "../protocol/numbers/Sats.js"
import type { Vertex } from "../protocol/vertex/Vertex.js"
import type { CheckpointQuorum } from "./CheckpointQuorum.js"
import type { Committee } from "./dag/Committee.js"
import type { Epoch } from "./Epoch.js"
import type { Output } from "./output/Output.js"
import { Pace } from "./Pace.js"
import type { Following } from "./Recovery.js"
import { MIN_TIMEOUT_MS } from "./RoundClock.js"
import type { SigningGuard } from "./SigningGuard.js"

/** Up to this many rounds ahead, parents are fetched one by one; beyond that, whole rounds. */
const FETCHED_ROUNDS = 16
/** A node further than this behind a quorum asks for whole rounds. */
const TOLERATED_LAG_ROUNDS = 4
/** Retries without a new round of a quorum before a node asks for missing rounds; a partition is no emergency. */
const STANDSTILL_RETRIES = 8

/** Recovered vertices sent at once: they fit in the waiting rooms of others without overloading the connection. */
const RECOVERED_AT_ONCE = { vertices: 64, bytes: 2_097_152 }

/** After this many failed retries, lost messages are not the cause. Everything is still resent, but less often. */
const PATIENT_AFTER_RETRIES = 40
const PATIENT_RETRIES = 4

/** Resending a vertex up to this size costs less than a round that waits for it. */
const CHEAP_BYTES = 12_288
const AVERAGED_ROUNDS = 8

export interface Place {
  readonly epoch: Epoch
  readonly checkpoints: CheckpointQuorum
  readonly previous: { readonly epoch: Epoch; readonly checkpoints: CheckpointQuorum } | null
  /** This node's closing checkpoint of the running epoch, once built. */
  readonly closing: Checkpoint | null
  /** Whether this node is connected to the validator, which then sends its vertices itself. */
  readonly isConnected: (validator: Address) => boolean
  /** When this node's last vertex was planned. */
  readonly madeAt: Timestamp | null
  /** When this node makes its next vertex, if it has all it needs; null if it waits for others. */
  readonly readyAt: number | null
}

/** Only the replica knows of fast syncs. */
export type FollowingHere = Exclude<Following, { readonly _tag: "Joining" }>

interface Lacking {
  readonly fromRound: Round
  readonly toRound: Round
  readonly pace: Pace
}

export class Retries {
  /** Null for a node without a validator key. */
  readonly #guard: SigningGuard | null
  /**
   * The recent duration of a round. On machines too busy for their rounds, missing messages are late rather than lost,
   * and asking for them or resending would make the machines busier.
   */
  #roundMs: number
  readonly #emit: (output: Output) => void
  /** The highest round with a quorum of vertices, and when that was first seen. Nodes without a key can stall too. */
  #moved: { readonly round: Round; readonly at: Timestamp } | null = null
  /** Whether no round had been completed for a long time at the last tick. */
  #isStandingStill = false
  readonly #fetchPace: Pace
  readonly #askPace: Pace
  readonly #resendPace: Pace
  readonly #recoveryPace: Pace
  readonly #patientPace: Pace
  readonly #catchUpPace: Pace
  readonly #standstillPace: Pace

  constructor(roundIntervalMs: number, guard: SigningGuard | null, emit: (output: Output) => void) {
    this.#guard = guard
    this.#emit = emit
    this.#roundMs = roundIntervalMs
    const retryMs = Math.max(MIN_TIMEOUT_MS, 2 * roundIntervalMs)
    this.#fetchPace = new Pace(Math.max(20, Sats.divideFloor(roundIntervalMs, 4)))
    this.#askPace = new Pace(retryMs)
    this.#resendPace = new Pace(retryMs)
    this.#recoveryPace = new Pace(retryMs)
    this.#patientPace = new Pace(PATIENT_RETRIES * retryMs)
    this.#catchUpPace = new Pace(retryMs)
    this.#standstillPace = new Pace(STANDSTILL_RETRIES * retryMs)
  }

  get isStandingStill(): boolean {
    return this.#isStandingStill
  }

  reached(round: Round, at: Timestamp): void {
    const before = this.#moved
    if (before?.round === round) return
    if (before !== null && before.round < round) this.#took(Sats.divideFloor(at - before.at, round - before.round))
    this.#moved = { round, at }
  }

  /** Limits a sample, so that a standstill does not count as one long round. */
  #took(roundMs: number): void {
    const took = Math.min(roundMs, Sats.divideFloor(this.#standstillPace.everyMs, 2))
    this.#roundMs = Sats.divideFloor((AVERAGED_ROUNDS - 1) * this.#roundMs + took, AVERAGED_ROUNDS)
  }

  /** How long this vertex of this node waits for the next round before it is resent. */
  #resentAfterMs(vertex: Vertex): number {
    const { everyMs } = this.#resendPace
    return vertex.encoded.length <= CHEAP_BYTES ? everyMs : Math.max(everyMs, 2 * this.#roundMs)
  }

  begin(): void {
    this.#moved = null
  }

  /** A time so long ago that no wait from it remains. */
  longBefore(now: Timestamp): Timestamp {
    return Natural.timestamp(Math.max(0, now - this.#standstillPace.everyMs))
  }

  nextAfter(now: Timestamp, isFetching: boolean): number {
    return (isFetching ? this.#fetchPace : this.#resendPace).nextAfter(now)
  }

  /** Asks the committee what this node's key has signed, and peers for missing vertices. */
  ask(place: Place, now: Timestamp): void {
    const { admission, dag, committee, isClosed } = place.epoch
    this.#askOfKey(committee, now)
    if (isClosed) return
    if (admission.waiting > 0 && this.#fetchPace.isDue(now)) {
      const wanted = admission.toFetch({
        upTo: dag.quorumRound + FETCHED_ROUNDS,
        now,
        retryMs: this.#askPace.everyMs,
        isOnItsWay: ({ round, author }) => round >= dag.quorumRound && place.isConnected(author),
        awaitedMs: Sats.divideFloor(this.#roundMs, 2),
      })
      if (wanted.length > 0) this.#emit({ _tag: "Fetch", wanted })
    }
    this.#catchUp(place, now)
  }

  #askOfKey(committee: Committee, now: Timestamp): void {
    const members = this.#guard?.toAsk(committee) ?? []
    const witnesses = this.#guard?.witnesses(committee) ?? []
    if (members.length + witnesses.length === 0 || !this.#askPace.isDue(now)) return
    if (members.length > 0) this.#emit({ _tag: "AskOwnHighest", members })
    if (witnesses.length > 0) this.#emit({ _tag: "AskProgress", members: witnesses })
  }

  /** Delays asking the committee about this node's key, so that answers on their way are read first. */
  askOfKeyLater(now: Timestamp): void {
    this.#askPace.putOff(now)
  }

  /** This node's position in its epoch: see docs/recovery.md. */
  following({ epoch: running, checkpoints, closing }: Place, now: Timestamp): FollowingHere {
    const { dag, reachedRound, isClosed, opening, committee } = running
    const { epoch, members } = opening.record
    const without = (has: (member: Address) => boolean): ReadonlyArray<Address> =>
      members.flatMap(({ address }) => (has(address) ? [] : [address]))
    if (isClosed) {
      const hasSigned = (member: Address): boolean =>
        closing !== null && checkpoints.signatureOf(closing, member) !== undefined
      return { _tag: "Closing", epoch, lacks: without(hasSigned) }
    }
    if (checkpoints.closing !== null) return { _tag: "EpochOver", epoch }
    if (dag.quorumRound + TOLERATED_LAG_ROUNDS < reachedRound) {
      return { _tag: "Behind", round: dag.quorumRound, reachedRound }
    }
    if (this.#hasStopped(now)) {
      const round = Natural.round(Math.max(dag.quorumRound + 1, committee.firstRound))
      const present = new Set(dag.at(round).map(({ seat }) => committee.member(seat).address))
      return { _tag: "Standstill", round, lacks: without((member) => present.has(member)) }
    }
    return { _tag: "InStep" }
  }

  #hasStopped(now: Timestamp): boolean {
    return this.#moved !== null && now - this.#moved.at >= this.#standstillPace.everyMs
  }

  #catchUp(place: Place, now: Timestamp): void {
    const { admission, opening } = place.epoch
    const state = this.following(place, now)
    this.#isStandingStill = this.#hasStopped(now)
    admission.admitUnnamed(state._tag === "EpochOver" || this.#isStandingStill)
    const lacking = this.#lackedIn(state, place.epoch)
    if (lacking?.pace.isDue(now) !== true) return
    const { fromRound, toRound } = lacking
    this.#emit({ _tag: "CatchUp", epoch: opening.record.epoch, fromRound, toRound })
  }

  /** The rounds to ask for in this state, and how often. */
  #lackedIn(state: FollowingHere, epoch: Epoch): Lacking | null {
    switch (state._tag) {
      case "InStep":
      case "Closing":
        return null
      case "Behind":
        if (this.#isStandingStill) return { ...everythingOf(epoch), pace: this.#catchUpPace }
        return { fromRound: state.round, toRound: state.reachedRound, pace: this.#catchUpPace }
      case "EpochOver":
        return { ...everythingOf(epoch), pace: this.#catchUpPace }
      case "Standstill":
        // On a halted network, a follower lacks nothing that a member does not ask for.
        return epoch.seat === undefined ? null : { ...everythingOf(epoch), pace: this.#standstillPace }
    }
  }

  /** Resends the last messages of a node that is stuck. */
  sendAgain({ epoch, checkpoints, previous, closing: own, madeAt, readyAt }: Place, now: Timestamp): void {
    const isStuck = madeAt !== null && (readyAt === null || readyAt <= now)
    const stuckMs = isStuck ? now - madeAt : 0
    const { dag, isClosed, ownVertices, committee } = epoch
    const ending = isClosed ? { epoch, checkpoints } : previous
    const isNextHeard = !isClosed && dag.quorumRound >= committee.firstRound
    const closed = isClosed ? own : (ending?.checkpoints.closing?.checkpoint ?? null)
    const closing = isNextHeard || ending === null ? null : this.#signed(closed, ending.checkpoints)
    const vertices: Array<Vertex> = []
    if (!isNextHeard && ending?.epoch.seat !== undefined) vertices.push(...ending.epoch.ownVertices)
    const last = isClosed ? undefined : ownVertices.at(-1)
    const lastAfterMs = last === undefined ? 0 : this.#resentAfterMs(last)
    if (last !== undefined && stuckMs >= lastAfterMs) vertices.push(last)
    const hasLongStopped = stuckMs >= PATIENT_AFTER_RETRIES * this.#resendPace.everyMs
    const pace = hasLongStopped ? this.#patientPace : this.#resendPace
    const afterMs = Math.max(pace.everyMs, lastAfterMs)
    if ((vertices.length === 0 && closing === null) || !pace.isDue(now, afterMs)) return
    this.#emit({ _tag: "Resend", vertices, closing })
  }

  /** A closing checkpoint with this node's signature, if it has signed it. */
  #signed(
    checkpoint: Checkpoint | null,
    checkpoints: CheckpointQuorum,
  ): Extract<Output, { _tag: "Resend" }>["closing"] {
    const validator = this.#guard?.self
    if (checkpoint === null || validator === undefined) return null
    const signature = checkpoints.signatureOf(checkpoint, validator)
    return signature === undefined ? null : { checkpoint, signature: { validator, signature } }
  }

  isRecoveryDue(now: Timestamp): boolean {
    return this.#recoveryPace.isDue(now)
  }

  /** Resends the lowest rounds first, from the last quorum here: others may lack them too, and ask for older ones. */
  resendRecovered(recovered: ReadonlyArray<Vertex>, quorumRound: Round): void {
    const vertices: Array<Vertex> = []
    let bytes = 0
    for (const vertex of recovered) {
      if (vertex.header.round < quorumRound) continue
      bytes += vertex.encoded.length
      const isOverLimit = vertices.length >= RECOVERED_AT_ONCE.vertices || bytes > RECOVERED_AT_ONCE.bytes
      if (isOverLimit && vertices.length > 0) break
      vertices.push(vertex)
    }
    if (vertices.length > 0) this.#emit({ _tag: "Resend", vertices, closing: null })
  }
}

/**
 * All rounds still kept, parents first. The vertices that decide the end of an epoch can be anywhere up to its last
 * vertex, because an indirect decision can be more than two rounds above its leader. After a long standstill, the
 * others may have decided by a vertex that its author showed only to them and that no later vertex will ever name,
 * since they closed the epoch with it. Or the vertex is named and fetched but finds no place to wait for its parents,
 * because its author has filled its share of the waiting room with vertices whose parents do not exist.
 *
 * The rounds above a quorum's may build on a vertex below it: a second vertex of a slot that arrived here unnamed. A
 * node that asks only for the rounds above then receives nothing usable, however honest the answer and however far
 * behind it is.
 */
const everythingOf = ({ dag, reachedRound, opening }: Epoch): Pick<Lacking, "fromRound" | "toRound"> => {
  const last = Math.max(reachedRound, dag.highestRound) + opening.record.rules.epochRounds
  return {
    fromRound: Natural.round(dag.collectedRound + 1),
    toRound: Natural.round(Math.min(last, Number.MAX_SAFE_INTEGER)),
  }
}
