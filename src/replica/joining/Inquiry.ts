/** Asks one peer, question by question, for the closing checkpoints from a known committee to a newer one. */
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import type { PeerId } from "../messages/Peer.js"
import { ProvenChain, type Trust } from "./ProvenChain.js"

export class Inquiry {
  readonly peer: PeerId
  readonly chain: ProvenChain
  /** The epoch whose checkpoint is compared with another peer's; null if the chain only has to be proven. */
  readonly #compared: Epoch | null
  #shown: SignedCheckpoint | null = null
  #question: Epoch | null = null
  #hasAskedForCompared = false
  #isOver = false

  constructor(peer: PeerId, trust: Trust, newest: SignedCheckpoint, compared: Epoch | null) {
    this.peer = peer
    this.chain = new ProvenChain(trust, newest)
    this.#compared = compared
    this.take([])
  }

  /** The peer's closing checkpoint of the compared epoch; null if it named none. */
  get shown(): SignedCheckpoint | null {
    return this.#shown
  }

  /** The epoch from which to ask for checkpoints; null if there is nothing to ask. */
  get question(): Epoch | null {
    return this.#isOver ? null : this.#question
  }

  get hasWork(): boolean {
    return !this.#isOver && this.chain.hasWork
  }

  get isOpen(): boolean {
    return this.hasWork || this.question !== null
  }

  take(signed: ReadonlyArray<SignedCheckpoint>): void {
    this.#shown ??= signed.find(({ checkpoint }) => checkpoint.epoch === this.#compared) ?? null
    this.#question = null
    this.chain.take(signed)
  }

  step(): void {
    this.chain.step()
    if (this.chain.hasWork) return
    this.#question = this.chain.toAsk()
    const isCompared = this.#shown !== null || this.#hasAskedForCompared
    if (this.#question !== null || this.chain.isProven || isCompared) return
    this.#hasAskedForCompared = true
    this.#question = this.#compared
  }

  /** The peer did not answer, or too slowly. */
  end(): void {
    this.#isOver = true
  }
}
