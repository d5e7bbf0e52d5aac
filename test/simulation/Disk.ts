/**
 * A disk with the two files of a data directory. Each write is one transaction, so none is half done. A killed process
 * loses what was not reported as written. A power cut takes from each file what had not been synced: of what was signed
 * nothing that was done, of the ledger everything behind the last write that synced it. Writes are done in their order, but a
 * vertex signed here that syncs nothing goes ahead of what waits for the ledger. A backup sets back both files or
 * one of them. docs/storage.md says why the real disk does no more and no less.
 */
import * as Write from "../../src/replica/output/Write.js"
import type { Stored } from "../support/Stored.js"
import type { Chance } from "./Chance.js"

/** What no crash can take from the log is folded into the base when it has grown so long. */
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

const isOwn = ({ write }: Entry): boolean => write._tag === "OwnVertex"
const overtakes = (entry: Entry): boolean => isOwn(entry) && !Write.syncsLedger(entry.write)

/** What is done: the first so many writes, and among the first so many those that went ahead. */
interface Done {
  readonly inOrder: number
  readonly ahead: number
}

/**
 * Invariant: `#stored` is `#base` with all of `#log`. Reported as written are its first `#written` writes, and among the first
 * `#ahead` those that overtake.
 */
export class Disk {
  #base: Stored
  #stored: Stored
  #log: Array<Entry> = []
  #written = 0
  #ahead = 0

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
    const done = this.#drawn(chance)
    for (const { write } of this.#log.filter((entry, i) => this.#isDone(entry, i, done))) copy.apply(write)
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
    if (this.#log.length > FOLDED_WRITES) this.#fold(syncedOf(this.#log, this.#written))
    return reached
  }

  #fold(synced: number): void {
    for (const { write } of this.#log.splice(0, synced)) this.#base.apply(write)
    this.#written -= synced
    this.#ahead = Math.max(0, this.#ahead - synced)
  }

  /** This own vertex and those before it are written, ahead of what waits. */
  reachedAhead(id: number): void {
    this.#ahead = Math.max(this.#ahead, this.#log.findLastIndex((entry) => entry.id <= id) + 1)
  }

  /** What is done when the process ends: at least what was reported, and own vertices in their order. */
  #drawn(chance: Chance): Done {
    const inOrder = chance.between(this.#written, this.#log.length)
    const drawn = chance.between(Math.max(this.#ahead, inOrder), this.#log.length)
    const waits = this.#log.findIndex((entry, i) => i >= inOrder && isOwn(entry) && !overtakes(entry))
    return { inOrder, ahead: waits < 0 ? drawn : Math.min(drawn, waits) }
  }

  #isDone(entry: Entry, i: number, { inOrder, ahead }: Done): boolean {
    return i < inOrder || (i < ahead && overtakes(entry))
  }

  #keepOnly(log: ReadonlyArray<Entry>): void {
    for (const { write } of log) this.#base.apply(write)
    this.#stored = this.#base.copy()
    this.#log = []
    this.#written = 0
    this.#ahead = 0
  }

  /** What is left after a crash, drawn between what must be there and what may. Up to some write everything was done. */
  crash(chance: Chance, crash: Crash): void {
    const done = this.#drawn(chance)
    const synced = syncedOf(this.#log, done.inOrder)
    const some = chance.between(synced, done.inOrder)
    const ledger = { killed: done.inOrder, "power cut": some, "worst power cut": synced }[crash]
    this.#keepOnly(this.#log.filter((entry, i) => this.#isDone(entry, i, done) && (i < ledger || isSigned(entry))))
  }

  /** Puts what a backup holds in the place of what is there. */
  restore(backup: Stored, what: BackedUp): void {
    if (what === "both files") this.#base = backup.copy()
    else if (what === "udg.db alone") this.#base = backup.withSignedOf(this.#stored)
    else this.#base = this.#stored.withSignedOf(backup)
    this.#keepOnly([])
  }
}
