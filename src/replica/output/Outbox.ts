/** Collects the outputs of one input. After a fatal finding it collects no more. */

import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Answer, DiskQuestion, Gossip, Question } from "../messages/Message.js"
import type { PeerId } from "../messages/Peer.js"
import { Companions } from "./Companions.js"
import type { Fatal, Output, Outputs } from "./Output.js"
import type { Write } from "./Write.js"

export class Outbox {
  #outputs: Array<Output> = []
  #writes = 0
  readonly #companions = new Companions()
  #isHalted = false

  get isHalted(): boolean {
    return this.#isHalted
  }

  emit(output: Output): void {
    if (!this.#isHalted) this.#outputs.push(output)
  }

  /** Returns the id under which the host reports it. */
  write(write: Write, isSynced = false): number {
    const id = ++this.#writes
    if (write._tag === "Inserted") this.#companions.inserted(write.vertex)
    this.emit({ _tag: "Write", id, write, isSynced })
    return id
  }

  /** A vertex signed here. The host reports once it is on disk with everything it may name. */
  writeOwn(vertex: Vertex): number {
    return this.write({ _tag: "OwnVertex", vertex, companions: this.#companions.take() }, true)
  }

  /** The same for a vertex to be signed remotely. */
  writeIntent(vertex: Vertex): number {
    return this.write({ _tag: "Intent", vertex, companions: this.#companions.take() }, true)
  }

  /** A signed vertex whose intent is on disk, and so is everything it may name. */
  writeSigned(vertex: Vertex): number {
    return this.write({ _tag: "OwnVertex", vertex, companions: [] }, true)
  }

  send(to: PeerId, message: Question | DiskQuestion | Answer): void {
    this.emit({ _tag: "Send", to, message })
  }

  broadcast(message: Gossip): void {
    this.emit({ _tag: "Broadcast", message })
  }

  halt(fatal: Fatal): void {
    this.emit({ _tag: "Fatal", fatal })
    this.#isHalted = true
  }

  /** Runs a part of an input. If the part returns a reason to halt, its outputs are dropped and the replica halts. */
  haltingOn(part: () => Fatal | undefined): void {
    if (this.#isHalted) return
    const before = this.#outputs.length
    const fatal = part()
    if (fatal === undefined || this.#isHalted) return
    this.#outputs.length = before
    this.halt(fatal)
  }

  drain(): Outputs {
    const outputs = this.#outputs
    this.#outputs = []
    return outputs
  }
}
