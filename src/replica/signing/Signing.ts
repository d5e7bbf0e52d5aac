/** Everything this node signs. A vertex is on disk before any node, including this one, takes it in. */

import type { Core } from "../../consensus/Core.js"
import { isAbove, type Place, type Word } from "../../consensus/KeyMemory.js"
import type { Output as CoreOutput } from "../../consensus/output/Output.js"
import { hasLeader } from "../../consensus/RoundClock.js"
import { higherOf, SigningGuard } from "../../consensus/SigningGuard.js"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import * as Address from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Signature, Signer, SignerElsewhere } from "../../protocol/identity/Keys.js"
import type { Epoch, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Header from "../../protocol/vertex/Header.js"
import * as Heartbeat from "../../protocol/vertex/Heartbeat.js"
import * as Vertex from "../../protocol/vertex/Vertex.js"
import type { LiveState } from "../live/LiveState.js"
import type { Outbox } from "../output/Outbox.js"
import { assignment } from "./Assignment.js"
import * as VertexBody from "./VertexBody.js"

/** Whether this node includes fresh transactions: only once it has seen which ones the previous leader included. */
const mayLead = ({ committee, dag, seat }: Core["epoch"], round: Round): boolean =>
  committee.leaderOf(round) === seat && (round === committee.firstRound || hasLeader(dag, Natural.round(round - 1)))

export interface Options {
  readonly signer: Signer | SignerElsewhere | null
  /** See `KeyMemory`. */
  readonly word: Word | null
}

interface Unsent {
  readonly writeId: number
  readonly vertex: Vertex.Vertex
  /** `asked`: the remote signer has not answered. */
  readonly signature: "made" | "missing" | "asked"
}

/** Receives the remote signer's answer, null if it refuses. */
type Then = (signature: Signature | null, now: Timestamp) => void

/** Limit of checkpoints awaiting the remote signer. While it is away, others sign those beyond. */
const MAX_ASKED = 64

export class Signing {
  readonly self: Address.Address | null
  readonly #signer: Signer | SignerElsewhere | null
  readonly #asked = new Map<number, Then>()
  #lastAsked = 0
  #isBeating = false
  readonly #word: Word | null
  /** Whether the disk held vertices at the start, and so remembers what was signed. */
  readonly #hasMemory: boolean
  readonly #outbox: Outbox
  /** Signed here in the running epoch and the one before; on disk or on the way there. */
  readonly #headers: Map<Hash, Header.Header>
  #guard: SigningGuard | null = null
  #lastSigned: Pick<Header.Header, "epoch" | "round">
  /** The highest place at which this key is known to have signed a vertex, here or elsewhere. */
  #signedAt: Place | null
  #unsent: ReadonlyArray<Unsent> = []
  readonly #refused: Array<Vertex.Vertex> = []
  #writtenId = 0

  /** `intent`: a vertex for the remote signer, if not among the stored ones. */
  constructor(
    { signer, word }: Options,
    stored: Iterable<Vertex.Vertex>,
    intent: Vertex.Vertex | null,
    outbox: Outbox,
  ) {
    this.#signer = signer
    this.#word = word
    this.self = signer === null ? null : Address.fromPublicKey(signer.publicKey)
    this.#headers = new Map([...stored].map(({ header }) => [header.hash, header]))
    this.#signedAt = [...this.#headers.values()].reduce(higherOf, null)
    this.#lastSigned = this.#signedAt ?? { epoch: Natural.epoch(0), round: Natural.round(0) }
    if (intent !== null && isAbove(intent.header, this.#lastSigned)) {
      this.#headers.set(intent.header.hash, intent.header)
      this.#lastSigned = intent.header
      // A node that holds the key itself again leaves the slot empty.
      if (signer?.sign === null) this.#unsent = [{ writeId: 0, vertex: intent, signature: "missing" }]
    }
    this.#hasMemory = this.#headers.size > 0
    this.#outbox = outbox
  }

  get size(): number {
    return this.#headers.size + this.#unsent.length
  }

  /** Creates a guard that knows everything signed here since this epoch and asks the committee again. */
  guard(oldest: Epoch, roundIntervalMs: number): SigningGuard | null {
    if (this.self === null) return null
    this.#signedAt = higherOf(this.#signedAt, this.#guard?.highestForeign ?? null)
    this.#guard = new SigningGuard(this.self, roundIntervalMs, oldest, this.#headers.values(), {
      heldBack: this.#guard?.heldBack ?? [],
      hasMemory: this.#guard?.hasMemory ?? this.#hasMemory,
      word: this.#word,
    })
    this.#guard.isWaiting = this.#unsent.some(({ signature }) => signature === "asked")
    return this.#guard
  }

  propose(
    { base, epoch, round, parents, coinbase, timestamp }: Extract<CoreOutput, { _tag: "Propose" }>,
    { core, pool, unordered }: LiveState,
    { evidence, heartbeats }: Omit<VertexBody.Sources, "pool">,
  ): void {
    const signer = this.#signer
    if (signer === null) return
    this.#neverTwice(epoch, round)
    const proposerOf = assignment(core.epoch.opening.record)
    const isAssigned = (account: Address.Address): boolean => proposerOf(account) === this.self
    const hasTurn = (account: Address.Address): boolean => proposerOf(account, round) === this.self
    const { committee } = core.epoch
    const slot = { round, parents: parents.length, members: committee.size, leads: mayLead(core.epoch, round) }
    const body = VertexBody.fill({ pool, evidence, heartbeats }, { ...slot, isAssigned, hasTurn })
    const content = { base, epoch, round, parents, timestamp, coinbase }
    const isHere = signer.sign !== null
    const vertex = isHere
      ? Vertex.sign(content, body, signer)
      : Vertex.unsigned({ ...content, publicKey: signer.publicKey }, body)
    this.#headers.set(vertex.header.hash, vertex.header)
    // Recorded now rather than when it enters the DAG: it may be held back for long and is this node's own meanwhile.
    this.#guard?.signed(vertex.header)
    unordered.add(vertex)
    const writeId = isHere ? this.#outbox.writeOwn(vertex) : this.#outbox.writeIntent(vertex)
    this.#unsent = [...this.#unsent, { writeId, vertex, signature: isHere ? "made" : "missing" }]
  }

  /** Two vertices in one round cost the stake. The core checks before it proposes; this is the last check. */
  #neverTwice(epoch: Epoch, round: Round): void {
    const last = this.#lastSigned
    if (!isAbove({ epoch, round }, last) || this.#guard?.maySign(epoch, round) !== true) {
      throw new Error(`round ${round} of epoch ${epoch} may not be signed; the last was ${last.round} of ${last.epoch}`)
    }
    this.#lastSigned = { epoch, round }
  }

  /**
   * This write and all own vertices before it are on disk. Returns own vertices that may be sent now. Earlier writes to
   * the other file may be reported later.
   */
  written(id: number): ReadonlyArray<Vertex.Vertex> {
    this.#writtenId = Math.max(this.#writtenId, id)
    return this.shown()
  }

  /**
   * Own vertices that are on disk and may be sent since the last call. If the process stalled meanwhile, another may
   * have signed for their rounds: they are sent once the committee confirms that none has, and otherwise never.
   */
  shown(): ReadonlyArray<Vertex.Vertex> {
    const isReady = ({ writeId, vertex }: Unsent): boolean =>
      writeId <= this.#writtenId && this.#guard?.mayShow(vertex.header) === true
    const ready = this.#unsent.filter(isReady)
    for (const { vertex, signature } of ready) if (signature === "missing") this.#askFor(vertex)
    const made = ready.filter(({ signature }) => signature === "made")
    if (made.length > 0) this.#unsent = this.#unsent.filter((each) => !made.includes(each))
    return made.map(({ vertex }) => vertex)
  }

  /** Its intent is on disk. The process may stall before the answer, so `shown` checks again. */
  #askFor(vertex: Vertex.Vertex): void {
    const { hash } = vertex.header
    this.#setUnsent(hash, (unsent) => ({ ...unsent, signature: "asked" }))
    if (this.#guard !== null) this.#guard.isWaiting = true
    this.#ask(Header.signedBytes(vertex.header), (signature) => {
      if (this.#guard !== null) this.#guard.isWaiting = false
      this.#setUnsent(hash, () => {
        if (signature === null) {
          this.#refused.push(vertex)
          return null
        }
        this.#signedAt = higherOf(this.#signedAt, vertex.header)
        const signed = Vertex.withSignature(vertex, signature)
        this.#headers.set(hash, signed.header)
        return { writeId: this.#outbox.writeSigned(signed), vertex: signed, signature: "made" }
      })
    })
  }

  #setUnsent(hash: Hash, change: (unsent: Unsent) => Unsent | null): void {
    this.#unsent = this.#unsent.flatMap((each) => (each.vertex.header.hash === hash ? (change(each) ?? []) : [each]))
  }

  #ask(bytes: Uint8Array, then: Then): void {
    const id = ++this.#lastAsked
    this.#asked.set(id, then)
    this.#signedAt = higherOf(this.#signedAt, this.#guard?.highestForeign ?? null)
    const at = this.#signedAt
    const signedAt = at === null ? null : { epoch: at.epoch, round: at.round }
    this.#outbox.emit({ _tag: "Sign", id, bytes, signedAt })
  }

  /** Takes the answer to a `Sign`. Returns vertices that will never exist because another node took the slot. */
  signed(id: number, signature: Signature | null, now: Timestamp): ReadonlyArray<Vertex.Vertex> {
    const then = this.#asked.get(id)
    this.#asked.delete(id)
    then?.(signature, now)
    return this.#refused.splice(0)
  }

  isUnsent(hash: Hash): boolean {
    return this.#unsent.some(({ vertex }) => vertex.header.hash === hash)
  }

  /** Hands over the signature at once, or when the remote signer has made it. */
  cosign(
    checkpoint: Checkpoint.Checkpoint,
    now: Timestamp,
    then: (signature: Checkpoint.CheckpointSignature, now: Timestamp) => void,
  ): void {
    const [signer, validator] = [this.#signer, this.self]
    if (signer === null || validator === null) return
    if (signer.sign !== null) then(Checkpoint.sign(checkpoint, signer), now)
    else if (this.#asked.size < MAX_ASKED) {
      this.#ask(Checkpoint.signedBytes(checkpoint), (signature, at) => {
        if (signature !== null) then({ validator, signature }, at)
      })
    }
  }

  /** Sends the heartbeat of a validator with enough stake and no seat. */
  beat(
    { commitIndex, commitHash }: Extract<CoreOutput, { _tag: "HeartbeatDue" }>,
    { ledger }: Pick<LiveState, "ledger">,
  ): void {
    if (this.#signer === null || this.self === null || !ledger.read.mayBeat(this.self)) return
    const signer = this.#signer
    if (signer.sign !== null) {
      this.#outbox.broadcast({ _tag: "Heartbeat", heartbeat: Heartbeat.sign(commitIndex, commitHash, signer) })
      return
    }
    // The next commit brings another one.
    if (this.#isBeating) return
    this.#isBeating = true
    const content = { publicKey: signer.publicKey, commitIndex, commitHash }
    this.#ask(Heartbeat.signedBytes(content), (signature) => {
      this.#isBeating = false
      if (signature === null) return
      this.#outbox.broadcast({ _tag: "Heartbeat", heartbeat: Heartbeat.make(content, signature) })
    })
  }

  forgetBefore(oldest: Epoch): void {
    for (const [hash, { epoch }] of this.#headers) if (epoch < oldest) this.#headers.delete(hash)
    this.#unsent = this.#unsent.filter(({ vertex }) => vertex.header.epoch >= oldest)
  }
}
