/** Sends the consensus's questions and news to peers. */

import type { Output as CoreOutput } from "../../consensus/output/Output.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Epoch, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Encoded, Vertex } from "../../protocol/vertex/Vertex.js"
import type { LiveState } from "../live/LiveState.js"
import type { Answer, Message } from "../messages/Message.js"
import type { PeerId } from "../messages/Peer.js"
import type { Peers } from "../messages/Peers.js"
import type { Outbox } from "../output/Outbox.js"
import { type Asking, CatchingUp, type Taking } from "./CatchingUp.js"

type Asked<Tag extends CoreOutput["_tag"]> = Extract<CoreOutput, { _tag: Tag }>

type Rounds = Extract<Answer, { _tag: "Rounds" }>

const LAST_ROUND = Natural.round(Number.MAX_SAFE_INTEGER)

export class Questions {
  readonly #peers: Peers
  readonly #outbox: Outbox
  readonly #patienceMs: number
  readonly #catchingUp: CatchingUp
  readonly #fetching = new Map<PeerId, ReadonlySet<Hash>>()
  /** The keys whose highest header each peer was asked for. */
  readonly #askedHighest = new Map<PeerId, Set<Address>>()
  readonly #askedClosing = new Set<PeerId>()
  /** When the DAG last gained a vertex. */
  #heardAt = Natural.timestamp(0)

  constructor(peers: Peers, outbox: Outbox, patienceMs: number, roundIntervalMs: number) {
    this.#peers = peers
    this.#outbox = outbox
    this.#patienceMs = patienceMs
    this.#catchingUp = new CatchingUp(peers, patienceMs, roundIntervalMs)
  }

  #ask(asking: Asking | null): void {
    if (asking !== null) this.#outbox.send(asking.to, asking.question)
  }

  catchUp(wanted: Asked<"CatchUp">, now: Timestamp): void {
    this.#ask(this.#catchingUp.wanted(wanted, now))
  }

  isAwaited(from: PeerId, message: Message<Encoded>): boolean {
    switch (message._tag) {
      case "Rounds":
        return this.#catchingUp.isAwaited(from, message)
      case "Highest":
        return this.#askedHighest.get(from)?.has(message.author) === true
      default:
        return true
    }
  }

  /** A requested page of rounds is being checked, or was refused. */
  pageArrived(from: PeerId, now: Timestamp): void {
    this.#catchingUp.arrived(from, now)
  }

  pageRefused(from: PeerId, now: Timestamp): void {
    this.#catchingUp.refused(from, now)
  }

  /** Hands over the vertices of whole rounds one at a time, and asks for more if there are any. */
  takeRounds(from: PeerId, answer: Rounds, taking: Taking, now: Timestamp): void {
    const { next, lie } = this.#catchingUp.take(from, answer, taking, now)
    if (lie !== null) {
      this.#outbox.emit({ _tag: "Misbehaved", peer: from, error: { _tag: "WrongAnswer", reason: lie } })
    }
    this.#ask(next)
  }

  /** Vertices have arrived, possibly those requested from this peer. */
  fetched(from: PeerId, vertices: ReadonlyArray<Vertex>): void {
    const asked = this.#fetching.get(from)
    if (asked === undefined || !vertices.some(({ header }) => asked.has(header.hash))) return
    this.#fetching.delete(from)
    this.#peers.brought(from)
  }

  #askClosing(to: PeerId, from: Epoch): void {
    this.#askedClosing.add(to)
    this.#outbox.send(to, { _tag: "AskClosing", from })
  }

  takeClosing(from: PeerId): boolean {
    return this.#askedClosing.delete(from)
  }

  /** Takes the answer to the one open question; a second answer would need a second question. */
  takeHighest(from: PeerId, author: Address): boolean {
    return this.#askedHighest.get(from)?.delete(author) === true
  }

  /** Ignores answers that are on their way. */
  forgetHighest(): void {
    this.#askedHighest.clear()
  }

  heard(now: Timestamp): void {
    this.#heardAt = now
  }

  /** If no peer forwards the committee's messages, the peers' disks have the same data a little later. */
  askWhenSilent({ core }: LiveState, now: Timestamp): void {
    if (now - this.#heardAt < 2 * this.#patienceMs) return
    this.#heardAt = now
    const { dag, opening } = core.epoch
    const { epoch } = opening.record
    const asking = this.#catchingUp.wanted({ epoch, fromRound: dag.quorumRound, toRound: LAST_ROUND }, now)
    this.#ask(asking)
    if (asking !== null) this.#askClosing(asking.to, epoch)
  }

  /**
   * A peer that names a vertex should have it. If it does not answer, questions alternate between members, by weight,
   * and all peers in rotation, since few may have the vertex.
   */
  fetch({ wanted }: Asked<"Fetch">, now: Timestamp): void {
    const asked = new Map<PeerId, Set<Hash>>()
    // A turn passes only when used: otherwise every second turn, always of the same class, would be lost.
    let member: PeerId | undefined
    let rotated: PeerId | undefined
    for (const { parent, namedBy, attempt } of wanted) {
      const [author] = attempt === 0 ? this.#peers.peersOf(namedBy) : []
      if (attempt % 2 === 1) member ??= this.#peers.next(now, "Members")
      else if (author === undefined) rotated ??= this.#peers.next(now, "Rotation")
      const peer = author ?? (attempt % 2 === 1 ? member : rotated)
      if (peer === undefined) continue
      asked.set(peer, (asked.get(peer) ?? new Set()).add(parent.hash))
    }
    for (const [to, hashes] of asked) {
      this.#fetching.set(to, hashes)
      this.#outbox.send(to, { _tag: "AskVertices", hashes: [...hashes] })
    }
  }

  connected(): void {
    this.#catchingUp.connected()
    for (const asked of [this.#fetching, this.#askedHighest, this.#askedClosing]) {
      for (const peer of asked.keys()) if (!this.#peers.has(peer)) asked.delete(peer)
    }
  }

  resend({ vertices, closing }: Asked<"Resend">): void {
    if (vertices.length > 0) this.#outbox.broadcast({ _tag: "Vertices", vertices })
    if (closing !== null) this.#outbox.broadcast({ _tag: "CheckpointSignature", ...closing })
  }

  /** Asks a peer that is ahead or informs one that is behind, at a limited rate. */
  tellOfClosing({ _tag, from }: Asked<"AskClosing" | "OfferClosing">, peer: PeerId | null, now: Timestamp): void {
    if (peer === null || !this.#peers.isDue(_tag, peer, now)) return
    if (_tag === "AskClosing") this.#askClosing(peer, from)
    else this.#outbox.emit({ _tag: "Serve", to: peer, question: { _tag: "AskClosing", from } })
  }

  askOwnHighest({ members }: Asked<"AskOwnHighest">, self: Address | null): void {
    if (self === null) return
    for (const member of members) this.#askHighest(member, self)
  }

  askProgress({ members }: Asked<"AskProgress">): void {
    for (const member of members) this.#askHighest(member, member)
  }

  #askHighest(member: Address, author: Address): void {
    for (const to of this.#peers.peersOf(member)) {
      const asked = this.#askedHighest.get(to) ?? new Set()
      this.#askedHighest.set(to, asked.add(author))
      this.#outbox.send(to, { _tag: "AskHighest", author })
    }
  }
}
