/**
 * This node's vertices that were on disk at the start but are not in the DAG. The node must never sign anything else for
 * their rounds. Perhaps no peer has them, and another process may have signed for those rounds since. The guard therefore
 * decides when the node may show them.
 */
import type { Hash } from "../protocol/identity/Hash.js"
import type { Header } from "../protocol/vertex/Header.js"
import type { Vertex } from "../protocol/vertex/Vertex.js"
import type { Epoch } from "./Epoch.js"
import type { SigningGuard } from "./SigningGuard.js"

export class StoredOwn {
  readonly #guard: SigningGuard | null
  /** Of epochs that have not opened here, by epoch and round. */
  #later: ReadonlyArray<Vertex>
  /** Of the running epoch, by round; empty once the DAG has all. */
  #current: ReadonlyArray<Vertex> = []

  constructor(guard: SigningGuard | null, signed: ReadonlyArray<Vertex>) {
    this.#guard = guard
    this.#later = signed
  }

  get later(): ReadonlyArray<Vertex> {
    return this.#later
  }

  get current(): ReadonlyArray<Vertex> {
    return this.#current
  }

  get size(): number {
    return this.#current.length + this.#later.length
  }

  get highest(): Header | undefined {
    return (this.#later.at(-1) ?? this.#current.at(-1))?.header
  }

  /** An epoch has opened. */
  open(running: Epoch): void {
    const { epoch } = running.opening.record
    const own = this.#later.filter(({ header }) => header.epoch === epoch)
    this.#later = this.#later.filter(({ header }) => header.epoch > epoch)
    this.#current = own.filter((vertex) => isMissing(running, vertex))
  }

  isWithheld(hash: Hash, { dag }: Epoch): boolean {
    const isIt = ({ header }: Vertex): boolean => header.hash === hash
    if (this.#later.some(isIt)) return true
    const found = this.#current.find(isIt)
    return found !== undefined && !dag.has(hash) && !this.#mayShow(found)
  }

  /** Those of the running epoch that may be shown. */
  get shown(): ReadonlyArray<Vertex> {
    return this.#current.filter((vertex) => this.#mayShow(vertex))
  }

  #mayShow({ header }: Vertex): boolean {
    return this.#guard?.mayShow(header) === true
  }

  /** Forgets those of the running epoch once the DAG has all. */
  settle(running: Epoch): void {
    if (!this.#current.some((vertex) => isMissing(running, vertex))) this.#current = []
  }
}

/** Whether the DAG could still take the vertex. */
export const isMissing = ({ dag }: Epoch, { header }: Vertex): boolean =>
  header.round > dag.collectedRound && !dag.has(header.hash)
