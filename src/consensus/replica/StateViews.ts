/** The states that others are served from: those of the last two closing checkpoints. */
import { Either } from "effect"
import * as Position from "../../ledger/trie/Position.js"
import * as Subtree from "../../ledger/trie/Subtree.js"
import type { Trie } from "../../ledger/trie/Trie.js"
import * as Binary from "../../protocol/Binary.js"
import type { Hash } from "../../protocol/Hash.js"

const KEPT = 2

export class StateViews {
  /** The oldest first. */
  #tries: ReadonlyArray<Trie>

  constructor(tries: ReadonlyArray<Trie>) {
    this.#tries = tries.slice(-KEPT)
  }

  add(trie: Trie): void {
    this.#tries = [...this.#tries, trie].slice(-KEPT)
  }

  /** The state with this root. */
  get(root: Hash): Trie | undefined {
    return this.#tries.find(({ hash }) => hash === root)
  }

  /** The first piece at an encoded position of the state with this root, as it is sent; none when there is none. */
  subtree(root: Hash, position: Uint8Array): Uint8Array | null {
    const trie = this.get(root)
    const place = Binary.decode("position", position, Position.read)
    if (trie === undefined || Either.isLeft(place)) return null
    const subtree = Subtree.at(trie, place.right, Subtree.MAX_BYTES)
    return subtree === undefined ? null : Subtree.encode(subtree)
  }
}
