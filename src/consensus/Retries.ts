/**
 * What a node does when nothing comes: it asks for what it lacks, and sends its own last messages again. Lost messages
 * must not halt the network.
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

/** Up to this many rounds ahead, parents are fetched one by one; beyond that, the node asks for whole rounds. */
const FETCHED_ROUNDS = 16
/** A node that is further than this behind a quorum asks for whole rounds. */
const TOLERATED_LAG_ROUNDS = 4
/** Retries without a new round of a quorum before a node asks for missing rounds; a partition is no emergency. */
const STANDSTILL_RETRIES = 8

/** Recovered vertices sent at once: they fit in the waiting rooms of others without overloading the connection. */
const RECOVERED_AT_ONCE = { vertices: 64, bytes: 2_097_152 }

/** After this many failed retries a lost message is not the cause: everything is still sent again, but less often. */
const PATIENT_AFTER_RETRIES = 40
const PATIENT_RETRIES = 4

/** A vertex up to this size costs less to send again than a round costs that waits for it. */
const CHEAP_BYTES = 12_288
/** How many rounds count in the average of what a round takes. */
const AVERAGED_ROUNDS = 8

/** Where the core is. */
export interface Place {
  readonly epoch: Epoch
  readonly checkpoints: CheckpointQuorum
  readonly previous: { readonly epoch: Epoch; readonly checkpoints: CheckpointQuorum } | null
  /** This node's closing checkpoint of the running epoch, once the ledger has built it. */
  readonly closing: Checkpoint | null
  /** Whether this node is connected to the validator, which sends its vertices itself then. */
  readonly isConnected: (validator: Address) => boolean
  /** When this node's last vertex was planned. */
  readonly madeAt: Timestamp | null
  /** When it makes its next vertex, if it has all it needs for that; null if it waits for others. */
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
  /** None for a node without a validator key. */
  readonly #guard: SigningGuard | null
  /**
   * What a round takes of late. On machines that are too busy for their rounds, what has not come is late rather than
   * lost; asking for it, or sending it again, would make them busier.
   */
  #roundMs: number
  readonly #emit: (output: Output) => void
  /** The highest round with vertices of a quorum, and when that was first seen: nodes without a key can stall too. */
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

  /** A quorum has vertices of this round. */
  reached(round: Round, at: Timestamp): void {
    const before = this.#moved
    if (before?.round === round) return
    if (before !== null && before.round < round) this.#took(Sats.divideFloor(at - before.at, round - before.round))
    this.#moved = { round, at }
  }

  /** A standstill does not count as a round that long. */
  #took(roundMs: number): void {
    const took = Math.min(roundMs, Sats.divideFloor(this.#standstillPace.everyMs, 2))
    this.#roundMs = Sats.divideFloor((AVERAGED_ROUNDS - 1) * this.#roundMs + took, AVERAGED_ROUNDS)
  }

  /** How long this vertex of this node waits for the next round before it is sent again. */
  #resentAfterMs(vertex: Vertex): number {
    const { everyMs } = this.#resendPace
    return vertex.encoded.length <= CHEAP_BYTES ? everyMs : Math.max(everyMs, 2 * this.#roundMs)
  }

  /** Another epoch begins. */
  begin(): void {
    this.#moved = null
  }

  /** So long ago that nothing is to be waited for any longer. */
  longBefore(now: Timestamp): Timestamp {
    return Natural.timestamp(Math.max(0, now - this.#standstillPace.everyMs))
  }

  /** When something may be due again. */
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

  /** Answers that were on their way are read before the committee is asked of this node's key again. */
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

  /** A node that is stuck sends its last messages again. */
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

  /** The lowest rounds first, from the last one with a quorum here: others may lack them too, and ask for older ones. */
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
 * All rounds that are still kept, parents first. The vertices that decide the end of an epoch may be anywhere up to its
 * last vertex: an indirect decision may be more than two rounds above its leader. After a long standstill, the others
 * may have decided by a vertex that its author showed only to them and that no later vertex will ever name, since they
 * closed the epoch with it. Or the vertex is named and fetched but finds no place to wait for its parents, because its
 * author has filled its share of the waiting room with vertices whose parents do not exist.
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
