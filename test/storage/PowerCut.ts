/**
 * What a power cut may leave of a database whose process was killed. The kill alone leaves everything, since the files
 * are still in the system's cache. This takes away what no sync had put on the disk, by SQLite's own account of it:
 *
 * - A commit syncs the log before it enters the log's index where the mode is `full`, and not at all where it is `normal`.
 * - A checkpoint syncs the log before it writes into the database, and the database before the log starts again from its
 *   front.
 * - The index (`-shm`) is never synced and is made anew from the log.
 *
 * Of what was written behind the last sync, a disk may have kept any part: nothing, all, or some sectors of it and not
 * others, with zeros, old content or noise between them. What was synced keeps every byte, so it is never worse than the
 * real thing; and each kind of leftover is tried, so it is not better either.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { Sqlite as Database } from "../../src/storage/sqlite/Driver.js"
import type { Chance } from "../simulation/Chance.js"

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const SECTOR_BYTES = 512

/** A log as the process left it. Frames count from 1, as SQLite counts them: 0 is none. */
interface WriteAheadLog {
  readonly bytes: Buffer
  readonly pageBytes: number
  /** Of each frame the page it holds, and whether it ends a transaction. */
  readonly frames: ReadonlyArray<{ readonly page: number; readonly isCommit: boolean }>
  /** The last frame in the index. */
  readonly indexed: number
  /** The last frame that a checkpoint has moved into the database, or was about to move. */
  readonly moving: number
}

const shm = (file: string): string => `${file}-shm`
const wal = (file: string): string => `${file}-wal`

/** Where the index keeps what it knows: see "WAL-Index Header" and "Checkpoint Information" in SQLite's walformat. */
const INDEX = { isInitialized: 12, lastFrame: 16, moved: 96, moving: 128, bytes: 136 } as const

const readLog = (file: string): WriteAheadLog | null => {
  if (!existsSync(wal(file)) || !existsSync(shm(file))) return null
  const [bytes, index] = [readFileSync(wal(file)), readFileSync(shm(file))]
  if (bytes.length < HEADER_BYTES || index.length < INDEX.bytes || index[INDEX.isInitialized] !== 1) return null
  const pageBytes = bytes.readUInt32BE(8)
  const salt = bytes.subarray(16, 24)
  const frames: Array<{ page: number; isCommit: boolean }> = []
  for (let at = HEADER_BYTES; at + FRAME_HEADER_BYTES + pageBytes <= bytes.length; ) {
    // Behind the newest frame lie those of the log's last round.
    if (!bytes.subarray(at + 8, at + 16).equals(salt)) break
    frames.push({ page: bytes.readUInt32BE(at), isCommit: bytes.readUInt32BE(at + 4) !== 0 })
    at += FRAME_HEADER_BYTES + pageBytes
  }
  // The index is in the machine's own byte order, which is this one everywhere Node runs.
  const word = (at: number): number => Math.min(index.readUInt32LE(at), frames.length)
  const moving = Math.max(word(INDEX.moved), word(INDEX.moving))
  return { bytes, pageBytes, frames, indexed: word(INDEX.lastFrame), moving }
}

const endOf = ({ pageBytes }: WriteAheadLog, frame: number): number =>
  HEADER_BYTES + frame * (FRAME_HEADER_BYTES + pageBytes)

/** The rows of a statement, as the next process would read them, without touching the files. */
export const look = (file: string, statement: string): ReadonlyArray<ReadonlyArray<unknown>> => {
  const folder = mkdtempSync(join(tmpdir(), "udg-look-"))
  const copy = join(folder, basename(file))
  try {
    for (const end of ["", "-wal"]) if (existsSync(`${file}${end}`)) copyFileSync(`${file}${end}`, `${copy}${end}`)
    const database = new Database(copy)
    try {
      return database.prepare(statement).raw().all() as ReadonlyArray<ReadonlyArray<unknown>>
    } finally {
      database.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How the writes to a file are synced, besides its checkpoints. */
export type Rule =
  /** `signed.db`: with every commit. */
  | { readonly _tag: "EveryCommit" }
  /**
   * `udg.db`: with commits that change this table, if any, as the beginning of an epoch does, and with those that change
   * nothing but the first page, which are made for nothing else.
   */
  | { readonly _tag: "CommitsTo"; readonly table: string | null }
  | { readonly _tag: "NoCommit" }

/** The last frame of a synced commit. */
const lastSynced = (file: string, log: WriteAheadLog, rule: Rule): number => {
  if (rule._tag === "NoCommit") return 0
  if (rule._tag === "EveryCommit") return log.indexed
  const [[root] = []] = look(file, `select rootpage from sqlite_schema where name = '${rule.table}'`)
  let [began, synced] = [0, 0]
  for (const [i, { isCommit }] of log.frames.slice(0, log.indexed).entries()) {
    if (!isCommit) continue
    const pages = log.frames.slice(began, i + 1).map(({ page }) => page)
    if (pages.some((page) => page === root) || pages.every((page) => page === 1)) synced = i + 1
    began = i + 1
  }
  return synced
}

const LEFTOVERS = ["nothing", "torn", "zeros", "noise", "patches"] as const

export interface Cut {
  readonly file: string
  /** Frames in the log, those of them that were surely on the disk, and those that are left whole. */
  readonly frames: number
  readonly synced: number
  readonly kept: number
  readonly leftover: (typeof LEFTOVERS)[number]
}

const fillNoise = (bytes: Buffer, chance: Chance): Buffer => {
  for (let i = 0; i < bytes.length; i++) bytes[i] = chance.below(256)
  return bytes
}

/** What the disk has of bytes that were written and not synced. */
const remainsOf = (bytes: Buffer, leftover: Cut["leftover"], chance: Chance): Buffer => {
  const sectors = Math.ceil(bytes.length / SECTOR_BYTES)
  switch (leftover) {
    case "nothing":
      return bytes.subarray(0, 0)
    case "torn":
      return bytes.subarray(0, chance.below(sectors) * SECTOR_BYTES)
    case "zeros":
      return Buffer.alloc(bytes.length)
    case "noise":
      return fillNoise(Buffer.alloc(bytes.length), chance)
    case "patches": {
      const patched = Buffer.from(bytes)
      for (let n = 0; n < sectors; n++) {
        const sector = patched.subarray(n * SECTOR_BYTES, (n + 1) * SECTOR_BYTES)
        if (chance.percent(30)) sector.fill(0)
        else if (chance.percent(10)) fillNoise(sector, chance)
      }
      return patched
    }
  }
}

/**
 * Pages that a checkpoint has written, which syncs the database only where it leaves nothing in the log: each sector is
 * the old one, the new one, or anything. As long as the log does not start again from its front, it has them all.
 */
const tearMoved = (file: string, log: WriteAheadLog, chance: Chance): void => {
  if (log.moving === 0) return
  const bytes = readFileSync(file)
  for (const { page } of log.frames.slice(0, log.moving)) {
    const from = (page - 1) * log.pageBytes
    for (let at = from; at < Math.min(from + log.pageBytes, bytes.length); at += SECTOR_BYTES) {
      if (chance.percent(50)) fillNoise(bytes.subarray(at, at + SECTOR_BYTES), chance)
    }
  }
  writeFileSync(file, bytes)
}

const keptOf = (synced: number, all: number, chance: Chance): number => {
  const extreme = chance.fraction()
  if (extreme < 0.2) return synced
  if (extreme < 0.3) return all
  return synced + chance.below(all - synced + 1)
}

/** Cuts the power of a file whose process is gone. What is left depends on chance alone. */
export const cut = (file: string, rule: Rule, chance: Chance): Cut | null => {
  const log = readLog(file)
  if (log === null) return null
  const synced = Math.max(lastSynced(file, log, rule), log.moving)
  const kept = keptOf(synced, log.frames.length, chance)
  const leftover = chance.pick(LEFTOVERS)
  const [whole, rest] = [log.bytes.subarray(0, endOf(log, kept)), log.bytes.subarray(endOf(log, kept))]
  tearMoved(file, log, chance)
  writeFileSync(wal(file), Buffer.concat([whole, remainsOf(rest, leftover, chance)]))
  rmSync(shm(file))
  return { file, frames: log.frames.length, synced, kept, leftover }
}

const SIGNED: Rule = { _tag: "EveryCommit" }
const LEDGER = { _tag: "CommitsTo", table: "openings" } as const

/**
 * Cuts the power of a node whose process is gone. The first epoch of a network is not synced: its beginning is the genesis,
 * which can be had again at any time.
 */
export const cutNode = (directory: string, chance: Chance): ReadonlyArray<Cut> => {
  const ledger = join(directory, "udg.db")
  if (!existsSync(shm(ledger))) return []
  const hasBegun = look(ledger, "select 1 from sqlite_schema where name = 'openings'").length > 0
  const [[epoch] = []] = hasBegun ? look(ledger, "select max(epoch) from openings") : []
  const rule: Rule = typeof epoch === "number" && epoch > 1 ? LEDGER : { ...LEDGER, table: null }
  return [cut(ledger, rule, chance), cut(join(directory, "signed.db"), SIGNED, chance)].flatMap((done) => done ?? [])
}
