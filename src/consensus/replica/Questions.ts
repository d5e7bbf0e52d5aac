/** What this node asks of others and tells them for the sake of the consensus, and whom. */
import type { Address } from "../../protocol/Address.js"
import type { Timestamp } from "../../protocol/Counter.js"
import * as Counter from "../../protocol/Counter.js"
import type { Hash } from "../../protocol/Hash.js"
import type { Output as CoreOutput } from "../Output.js"
import { type Asking, CatchingUp } from "./CatchingUp.js"
import type { Life } from "./Life.js"
import type { Answer } from "./Message.js"
import type { Outbox } from "./Outbox.js"
import type { PeerId } from "./Peer.js"
import type { Peers } from "./Peers.js"

type Asked<Tag extends CoreOutput["_tag"]> = Extract<CoreOutput, { _tag: Tag }>

const LAST_ROUND = Counter.round(Number.MAX_SAFE_INTEGER)

export class Questions {
  readonly #peers: Peers
  readonly #outbox: Outbox
  readonly #patienceMs: number
  readonly #catchingUp: CatchingUp
  /** When something last came into the DAG. */
  #heardAt = Counter.timestamp(0)

  constructor(peers: Peers, outbox: Outbox, patienceMs: number) {
    this.#peers = peers
    this.#outbox = outbox
    this.#patienceMs = patienceMs
    this.#catchingUp = new CatchingUp(peers, patienceMs)
  }

  #ask(asking: Asking | null): void {
    if (asking !== null) this.#outbox.send(asking.to, asking.question)
  }

  catchUp(wanted: Asked<"CatchUp">, now: Timestamp): void {
    this.#ask(this.#catchingUp.wanted(wanted, now))
  }

  /** Whole rounds have come; perhaps there are more. */
  answered(from: PeerId, answer: Extract<Answer, { _tag: "Rounds" }>, now: Timestamp): void {
    this.#ask(this.#catchingUp.answered(from, answer, now))
  }

  heard(now: Timestamp): void {
    this.#heardAt = now
  }

  /** Where nobody forwards what the committee says, the peers' disks tell as much, a little later. */
  askWhenSilent({ core }: Life, now: Timestamp): void {
    if (now < this.#heardAt) this.#heardAt = now
    if (now - this.#heardAt < 2 * this.#patienceMs) return
    this.#heardAt = now
    const { dag, opening } = core.epoch
    const { epoch } = opening.record
    const asking = this.#catchingUp.wanted({ epoch, fromRound: dag.quorumRound, toRound: LAST_ROUND }, now)
    this.#ask(asking)
    if (asking !== null) this.#outbox.send(asking.to, { _tag: "AskClosing", from: epoch })
  }

  /** Whoever names a vertex should have it; if it does not answer, anybody may. */
  fetch({ wanted }: Asked<"Fetch">): void {
    const asked = new Map<PeerId, Array<Hash>>()
    for (const { parent, namedBy, attempt } of wanted) {
      const [author] = attempt === 0 ? this.#peers.peersOf(namedBy) : []
      const peer = author ?? this.#peers.next()
      if (peer === undefined) continue
      const hashes = asked.get(peer) ?? []
      hashes.push(parent.hash)
      asked.set(peer, hashes)
    }
    for (const [to, hashes] of asked) this.#outbox.send(to, { _tag: "AskVertices", hashes })
  }

  resend({ vertices, closing }: Asked<"Resend">): void {
    if (vertices.length > 0) this.#outbox.broadcast({ _tag: "Vertices", vertices })
    if (closing !== null) this.#outbox.broadcast({ _tag: "CheckpointSignature", ...closing })
  }

  /** Asks who is ahead, and tells who is behind; not for every message that shows it. */
  tellOfClosing({ _tag, from }: Asked<"AskClosing" | "OfferClosing">, peer: PeerId | null, now: Timestamp): void {
    if (peer === null || !this.#peers.isDue(_tag, peer, now)) return
    const question = { _tag: "AskClosing", from } as const
    if (_tag === "OfferClosing") this.#outbox.emit({ _tag: "Serve", to: peer, question })
    else this.#outbox.send(peer, question)
  }

  askOwnHighest({ members }: Asked<"AskOwnHighest">, self: Address | null): void {
    if (self === null) return
    for (const member of members) {
      for (const to of this.#peers.peersOf(member)) this.#outbox.send(to, { _tag: "AskHighest", author: self })
    }
  }
}
