/**
 * The states that peers and clients ask for: those of the last two closing checkpoints, for joiners, and that of the
 * last checkpoint signed by a quorum, for proofs. Tries share nodes, so a view costs only the changes since.
 */
import { Either } from "effect"
import * as Position from "../../ledger/trie/Position.js"
import * as Subtree from "../../ledger/trie/Subtree.js"
import type { Trie } from "../../ledger/trie/Trie.js"
import * as Binary from "../../protocol/encoding/Binary.js"
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Hash } from "../../protocol/identity/Hash.js"

const KEPT_CLOSING = 2
/** Checkpoints built here that may still get a quorum. */
const KEPT_BUILT = 4

export interface ProvenState {
  readonly signed: SignedCheckpoint
  readonly trie: Trie
}

export class StateViews {
  /** Oldest first, as in the other lists. */
  #closing: ReadonlyArray<Trie>
  #built: ReadonlyArray<Trie> = []
  #latest: ProvenState | null = null

  constructor(closing: ReadonlyArray<Trie>) {
    this.#closing = closing.slice(-KEPT_CLOSING)
  }

  /** The state at the last checkpoint signed by a quorum, if this node has it. */
  get latest(): ProvenState | null {
    return this.#latest
  }

  get size(): number {
    return this.#closing.length + this.#built.length
  }

  built({ nextEpoch }: Checkpoint, trie: Trie): void {
    if (nextEpoch !== null) this.#closing = [...this.#closing, trie].slice(-KEPT_CLOSING)
    this.#built = [...this.#built, trie].slice(-KEPT_BUILT)
  }

  final(signed: SignedCheckpoint): void {
    const { stateRoot, commitIndex } = signed.checkpoint
    const trie = [...this.#built, ...this.#closing].find(({ hash }) => hash === stateRoot)
    const isNewer = this.#latest === null || this.#latest.signed.checkpoint.commitIndex < commitIndex
    if (trie !== undefined && isNewer) this.#latest = { signed, trie }
  }

  /**
   * The first encoded piece at an encoded position of the closing state with this root, at most `maxBytes` long unless
   * it is a leaf; null for any other root.
   */
  subtree(root: Hash, position: Uint8Array, maxBytes: number = Subtree.MAX_BYTES): Uint8Array | null {
    const trie = this.#closing.find(({ hash }) => hash === root)
    const place = Binary.decode("position", position, Position.read)
    if (trie === undefined || Either.isLeft(place)) return null
    const subtree = Subtree.at(trie, place.right, maxBytes)
    return subtree === undefined ? null : Subtree.encode(subtree)
  }
}
