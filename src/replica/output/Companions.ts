/**
 * The vertices that this node's next vertex may name and that must survive a power cut. A few are written beside it,
 * into the file that is synced with it anyway. For many, syncing the ledger's file costs less than writing them twice.
 */
import type { Vertex } from "../../protocol/vertex/Vertex.js"

export const MOST_BYTES = 32_768
/** Limit since the last sync of the ledger's file: this much is read and compared at startup. */
export const MOST_BYTES_KEPT = 262_144

export class Companions {
  #inserted: Array<Vertex> = []
  #bytes = 0
  /** Written beside own vertices since the ledger's file was synced; unknown for an earlier process. */
  #keptBytes = Number.POSITIVE_INFINITY

  inserted(vertex: Vertex): void {
    this.#bytes += vertex.encoded.length
    if (this.#bytes <= MOST_BYTES) this.#inserted.push(vertex)
    else this.#inserted = []
  }

  /** Those inserted since the last call, in order; null if the ledger's file must be synced instead. */
  take(): ReadonlyArray<Vertex> | null {
    const [inserted, bytes] = [this.#inserted, this.#bytes]
    this.#inserted = []
    this.#bytes = 0
    this.#keptBytes += bytes
    if (bytes <= MOST_BYTES && this.#keptBytes <= MOST_BYTES_KEPT) return inserted
    this.#keptBytes = 0
    return null
  }
}
