/**
 * The states that peers and clients ask for: those of the last two closing checkpoints for joiners, and the one of the
 * last checkpoint that a quorum signed for proofs. Tries share their common nodes, so a view costs only the changes
 * since.
 */
import { Either } from "effect"
import * as Position from "../../ledger/trie/Position.js"
import * as Subtree from "../../ledger/trie/Subtree.js"
import type { Trie } from "../../ledger/trie/Trie.js"
import * as Binary from "../../protocol/encoding/Binary.js"
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Hash } from "../../protocol/identity/Hash.js"

const KEPT_CLOSING = 2
/** Checkpoints built here whose quorum may still be on its way. */
const KEPT_BUILT = 4

export interface ProvenState {
  readonly signed: SignedCheckpoint
  readonly trie: Trie
}

export class StateViews {
  /** The oldest first, as are the others. */
  #closing: ReadonlyArray<Trie>
  #built: ReadonlyArray<Trie> = []
  #latest: ProvenState | null = null

  constructor(closing: ReadonlyArray<Trie>) {
    this.#closing = closing.slice(-KEPT_CLOSING)
  }

  /** The state under the last checkpoint that a quorum signed, if this node has it. */
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

  /** A quorum has signed it. */
  final(signed: SignedCheckpoint): void {
    const { stateRoot, commitIndex } = signed.checkpoint
    const trie = [...this.#built, ...this.#closing].find(({ hash }) => hash === stateRoot)
    const isNewer = this.#latest === null || this.#latest.signed.checkpoint.commitIndex < commitIndex
    if (trie !== undefined && isNewer) this.#latest = { signed, trie }
  }

  /**
   * The first encoded piece at an encoded position of the closing state with this root; null for any other root. It has at most
   * this many bytes, unless it is a leaf.
   */
  subtree(root: Hash, position: Uint8Array, maxBytes: number = Subtree.MAX_BYTES): Uint8Array | null {
    const trie = this.#closing.find(({ hash }) => hash === root)
    const place = Binary.decode("position", position, Position.read)
    if (trie === undefined || Either.isLeft(place)) return null
    const subtree = Subtree.at(trie, place.right, maxBytes)
    return subtree === undefined ? null : Subtree.encode(subtree)
  }
}
