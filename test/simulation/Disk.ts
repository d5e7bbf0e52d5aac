/**
 * A disk: every write in its order, of which a crash leaves a prefix. A killed process loses what was never reported as
 * written; a power cut also what was reported but did not have to be synced.
 */
import type { Stored } from "../../src/consensus/replica/Stored.js"
import type { Write } from "../../src/consensus/replica/Write.js"
import type { Chance } from "./Chance.js"

/** The log is folded into the base when it has grown so long. */
const FOLDED_WRITES = 4_000

interface Entry {
  readonly id: number
  readonly write: Write
}

/** Invariant: `#stored` is `#base` with all of `#log`; `#synced` ≤ `#written` ≤ the log's length. */
export class Disk {
  #base: Stored
  #stored: Stored
  #log: Array<Entry> = []
  #written = 0
  #synced = 0

  constructor(stored: Stored) {
    this.#base = stored.copy()
    this.#stored = stored
  }

  /** With everything that was given to it, on the platter or not: what a running process reads. */
  get stored(): Stored {
    return this.#stored
  }

  append(id: number, write: Write): void {
    this.#log.push({ id, write })
    this.#stored.apply(write)
  }

  /** This write and all before it have reached the disk; synced ones stay there whatever happens. */
  reached(id: number, isSynced: boolean): void {
    const end = this.#log.findLastIndex((entry) => entry.id <= id) + 1
    this.#written = Math.max(this.#written, end)
    if (!isSynced) return
    this.#synced = Math.max(this.#synced, end)
    if (this.#synced === this.#log.length && this.#log.length > FOLDED_WRITES) this.#fold()
  }

  #fold(): void {
    this.#base = this.#stored.copy()
    this.#log = []
    this.#written = 0
    this.#synced = 0
  }

  /** What is left after a crash, drawn between what must be there and what may. */
  crash(chance: Chance, isPowerCut: boolean): void {
    const least = isPowerCut ? this.#synced : this.#written
    this.#log = this.#log.slice(0, chance.between(least, this.#log.length))
    this.#written = this.#log.length
    this.#synced = this.#log.length
    this.#stored = this.#base.copy()
    for (const { write } of this.#log) this.#stored.apply(write)
  }

  /** Puts another content in its place: a backup. */
  restore(stored: Stored): void {
    this.#base = stored.copy()
    this.#stored = stored.copy()
    this.#log = []
    this.#written = 0
    this.#synced = 0
  }
}
