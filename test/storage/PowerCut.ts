/**
 * Simulates a power cut on a database whose process was killed. After the kill alone all data is still in the system's
 * cache. This removes what no sync has put on the disk, according to SQLite's documentation:
 *
 * - In `full` mode a commit syncs the log before it enters the log's index; in `normal` mode it does not sync.
 * - A checkpoint syncs the log before it writes into the database, and the database before the log restarts at its
 * beginning.
 * - The index (`-shm`) is never synced and is rebuilt from the log.
 *
 * Of unsynced writes a disk can keep nothing, everything, or some sectors, with zeros, old content or noise between
 * them. Synced bytes all stay, so the simulation is never worse than a real power cut. It tries each kind of leftover,
 * so it is not better either.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { Sqlite as Database } from "../../src/storage/sqlite/Driver.js"
import type { Chance } from "../simulation/Chance.js"

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const SECTOR_BYTES = 512

/** A log as the process left it. Frames count from 1, as in SQLite; 0 is no frame. */
interface WriteAheadLog {
  readonly bytes: Buffer
  readonly pageBytes: number
  /** For each frame, its page and whether it ends a transaction. */
  readonly frames: ReadonlyArray<{ readonly page: number; readonly isCommit: boolean }>
  /** The last frame in the index. */
  readonly indexed: number
  /** The last frame that a checkpoint has moved into the database, or was about to move. */
  readonly moving: number
}

const shm = (file: string): string => `${file}-shm`
const wal = (file: string): string => `${file}-wal`

/** Offsets in the index: see "WAL-Index Header" and "Checkpoint Information" in SQLite's walformat. */
const INDEX = { isInitialized: 12, lastFrame: 16, moved: 96, moving: 128, bytes: 136 } as const

const readLog = (file: string): WriteAheadLog | null => {
  if (!existsSync(wal(file)) || !existsSync(shm(file))) return null
  const [bytes, index] = [readFileSync(wal(file)), readFileSync(shm(file))]
  if (bytes.length < HEADER_BYTES || index.length < INDEX.bytes || index[INDEX.isInitialized] !== 1) return null
  const pageBytes = bytes.readUInt32BE(8)
  const salt = bytes.subarray(16, 24)
  const frames: Array<{ page: number; isCommit: boolean }> = []
  for (let at = HEADER_BYTES; at + FRAME_HEADER_BYTES + pageBytes <= bytes.length; ) {
    // After the newest frame come old ones from before the log restarted.
    if (!bytes.subarray(at + 8, at + 16).equals(salt)) break
    frames.push({ page: bytes.readUInt32BE(at), isCommit: bytes.readUInt32BE(at + 4) !== 0 })
    at += FRAME_HEADER_BYTES + pageBytes
  }
  // The index has the machine's byte order, which is little-endian everywhere Node runs.
  const word = (at: number): number => Math.min(index.readUInt32LE(at), frames.length)
  const moving = Math.max(word(INDEX.moved), word(INDEX.moving))
  return { bytes, pageBytes, frames, indexed: word(INDEX.lastFrame), moving }
}

const endOf = ({ pageBytes }: WriteAheadLog, frame: number): number =>
  HEADER_BYTES + frame * (FRAME_HEADER_BYTES + pageBytes)

/** The rows of a statement as the next process would read them, without changing the files. */
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
  /** `signed.db`: every commit. */
  | { readonly _tag: "EveryCommit" }
  /**
   * `udg.db`: commits that change this table, such as the beginning of an epoch, and commits that change only the first
   * page, whose sole purpose is the sync.
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
  /** The number of frames in the log, of those certainly on the disk, and of those left whole. */
  readonly frames: number
  readonly synced: number
  readonly kept: number
  readonly leftover: (typeof LEFTOVERS)[number]
}

const fillNoise = (bytes: Buffer, chance: Chance): Buffer => {
  for (let i = 0; i < bytes.length; i++) bytes[i] = chance.below(256)
  return bytes
}

/** What the disk kept of unsynced bytes. */
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
 * Tears pages that a checkpoint has written. It syncs the database only if it empties the log, so each sector can be
 * old, new or anything. Until the log restarts, it still has all of these pages.
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

/** Cuts the power of a file whose process is gone. The random stream decides what is left. */
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
 * Cuts the power of a node whose process is gone. The first epoch of a network is not synced, because the genesis can
 * be read again.
 */
export const cutNode = (directory: string, chance: Chance): ReadonlyArray<Cut> => {
  const ledger = join(directory, "udg.db")
  if (!existsSync(shm(ledger))) return []
  const hasBegun = look(ledger, "select 1 from sqlite_schema where name = 'openings'").length > 0
  const [[epoch] = []] = hasBegun ? look(ledger, "select max(epoch) from openings") : []
  const rule: Rule = typeof epoch === "number" && epoch > 1 ? LEDGER : { ...LEDGER, table: null }
  return [cut(ledger, rule, chance), cut(join(directory, "signed.db"), SIGNED, chance)].flatMap((done) => done ?? [])
}
