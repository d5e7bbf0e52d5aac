/**
 * A disk with the two files of a data directory. Each write is one transaction, so none is half done. Killing the
 * process loses writes that were not reported as written. A power cut also loses unsynced writes: none from the file of
 * signatures, and from the ledger everything after the last synced write. Writes are done in order, except that an own
 * vertex without a sync overtakes pending ledger writes. A backup restores both files or one of them. docs/storage.md
 * says why the real disk behaves the same.
 */
import * as Write from "../../src/replica/output/Write.js"
import type { Stored } from "../support/Stored.js"
import type { Chance } from "./Chance.js"

/** Above this length, writes that no crash can lose are folded into the base. */
const FOLDED_WRITES = 4_000

interface Entry {
  readonly id: number
  readonly write: Write.Write
}

/** What a restored backup replaces. */
export const BACKED_UP = ["both files", "udg.db alone", "signed.db alone"] as const
export type BackedUp = (typeof BACKED_UP)[number]

/** How a machine goes down. The worst power cut loses everything that a power cut can lose. */
export const CRASHES = ["killed", "power cut", "worst power cut"] as const
export type Crash = (typeof CRASHES)[number]

const isSigned = ({ write }: Entry): boolean => Write.fileOf(write) === "signed"

/** How many of the first `done` writes to the ledger's file survive any power cut. */
const syncedOf = (log: ReadonlyArray<Entry>, done: number): number =>
  log.slice(0, done).findLastIndex(({ write }) => Write.syncsLedger(write)) + 1

const isOwn = ({ write }: Entry): boolean => Write.fileOf(write) === "signed" && write._tag !== "ForeignOwnHeader"
const overtakes = (entry: Entry): boolean => isOwn(entry) && !Write.syncsLedger(entry.write)

/** Writes that are done: the first `inOrder` of the log, and those of the first `ahead` that overtook. */
interface Done {
  readonly inOrder: number
  readonly ahead: number
}

/**
 * Invariant: `#stored` is `#base` with all of `#log` applied. The first `#written` writes were reported as written, and
 * so were the overtaking ones among the first `#ahead`.
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

  /** What a running process reads: all writes, on the platter or not. */
  get stored(): Stored {
    return this.#stored
  }

  /** A copy of the disk of a stopped machine. Writes that were not reported as written may be missing. */
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

  /** Marks this write and all before it as written. Returns those that were not marked before. */
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

  /** Marks this own vertex, and own vertices before it, as written ahead of pending writes. */
  reachedAhead(id: number): void {
    this.#ahead = Math.max(this.#ahead, this.#log.findLastIndex((entry) => entry.id <= id) + 1)
  }

  /** Draws which writes are done when the process ends: at least the reported ones, and own vertices in order. */
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

  /**
   * Draws which writes survive a crash, between those that must and those that can. Writes up to some point were all
   * done.
   */
  crash(chance: Chance, crash: Crash): void {
    const done = this.#drawn(chance)
    const synced = syncedOf(this.#log, done.inOrder)
    const some = chance.between(synced, done.inOrder)
    const ledger = { killed: done.inOrder, "power cut": some, "worst power cut": synced }[crash]
    this.#keepOnly(this.#log.filter((entry, i) => this.#isDone(entry, i, done) && (i < ledger || isSigned(entry))))
  }

  /** Replaces one file or both with the backup. */
  restore(backup: Stored, what: BackedUp): void {
    if (what === "both files") this.#base = backup.copy()
    else if (what === "udg.db alone") this.#base = backup.withSignedOf(this.#stored)
    else this.#base = this.#stored.withSignedOf(backup)
    this.#keepOnly([])
  }
}
