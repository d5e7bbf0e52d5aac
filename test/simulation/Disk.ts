/**
 * A disk with the two files of a data directory. Each write is one transaction, so none is half done. A killed process
 * loses what was not reported as written. A power cut takes from each file what had not been synced: of what was signed
 * nothing that was done, of the ledger everything behind the last write that synced it. A backup sets back both files or
 * one of them. docs/storage.md says why the real disk does no more and no less.
 */
import * as Write from "../../src/replica/output/Write.js"
import type { Stored } from "../support/Stored.js"
import type { Chance } from "./Chance.js"

/** The log is folded into the base when it has grown so long. */
const FOLDED_WRITES = 4_000

interface Entry {
  readonly id: number
  readonly write: Write.Write
}

/** What a backup brings back. */
export const BACKED_UP = ["both files", "udg.db alone", "signed.db alone"] as const
export type BackedUp = (typeof BACKED_UP)[number]

/** How a machine goes down. The worst power cut takes everything that a power cut may. */
export const CRASHES = ["killed", "power cut", "worst power cut"] as const
export type Crash = (typeof CRASHES)[number]

const isSigned = ({ write }: Entry): boolean => Write.fileOf(write) === "signed"

/** How many of the first `done` writes no power cut can take from the ledger's file. */
const syncedOf = (log: ReadonlyArray<Entry>, done: number): number =>
  log.slice(0, done).findLastIndex(({ write }) => Write.syncsLedger(write)) + 1

/** Invariant: `#stored` is `#base` with all of `#log`, of which the first `#written` were reported as written. */
export class Disk {
  #base: Stored
  #stored: Stored
  #log: Array<Entry> = []
  #written = 0

  constructor(stored: Stored) {
    this.#base = stored.copy()
    this.#stored = stored
  }

  /** With everything that was given to it, on the platter or not: what a running process reads. */
  get stored(): Stored {
    return this.#stored
  }

  /** A copy as one makes it of a stopped machine: some of what was not reported as written may be missing. */
  copy(chance: Chance): Stored {
    const copy = this.#base.copy()
    const done = chance.between(this.#written, this.#log.length)
    for (const { write } of this.#log.slice(0, done)) copy.apply(write)
    return copy
  }

  append(id: number, write: Write.Write): void {
    this.#log.push({ id, write })
    this.#stored.apply(write)
  }

  /** This write and all before it are written; gives those of which that was not known. */
  reached(id: number): ReadonlyArray<Write.Write> {
    const before = this.#written
    this.#written = Math.max(before, this.#log.findLastIndex((entry) => entry.id <= id) + 1)
    const reached = this.#log.slice(before, this.#written).map(({ write }) => write)
    if (this.#log.length > FOLDED_WRITES && syncedOf(this.#log, this.#written) === this.#log.length) {
      this.#keepOnly(this.#log)
    }
    return reached
  }

  #keepOnly(log: ReadonlyArray<Entry>): void {
    for (const { write } of log) this.#base.apply(write)
    this.#stored = this.#base.copy()
    this.#log = []
    this.#written = 0
  }

  /** What is left after a crash, drawn between what must be there and what may. Up to some write everything was done. */
  crash(chance: Chance, crash: Crash): void {
    const done = chance.between(this.#written, this.#log.length)
    const synced = syncedOf(this.#log, done)
    const some = chance.between(synced, done)
    const ledger = { killed: done, "power cut": some, "worst power cut": synced }[crash]
    this.#keepOnly(this.#log.slice(0, done).filter((entry, i) => i < ledger || isSigned(entry)))
  }

  /** Puts what a backup holds in the place of what is there. */
  restore(backup: Stored, what: BackedUp): void {
    if (what === "both files") this.#base = backup.copy()
    else if (what === "udg.db alone") this.#base = backup.withSignedOf(this.#stored)
    else this.#base = this.#stored.withSignedOf(backup)
    this.#keepOnly([])
  }
}
