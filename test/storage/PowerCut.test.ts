import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Sqlite as Database } from "../../src/storage/sqlite/Driver.js"
import { Chance } from "../simulation/Chance.js"
import * as PowerCut from "./PowerCut.js"

/** A row is a little larger than a page, so most commits have several frames. */
const ROW = Buffer.alloc(6_000, 7)
const ROWS = 30
const SEEDS = 20

interface Story {
  readonly rule: PowerCut.Rule
  /** Rows that are also written to the other table. */
  readonly marked: (n: number) => boolean
  readonly checkpointAt: number
}

describe("a power cut", () => {
  let folder = ""
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "udg-cut-"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A database file as a kill leaves it, with all writes, the log and the index. */
  const killed = (name: string, { marked, checkpointAt }: Story): string => {
    const file = join(folder, `${name}.db`)
    const database = new Database(file)
    database.prepare("pragma journal_mode = wal").all()
    database.prepare("create table things (n integer primary key, bytes blob)").run()
    database.prepare("create table marks (n integer)").run()
    database.prepare("pragma wal_checkpoint(truncate)").all()
    for (let n = 1; n <= ROWS; n++) {
      database.prepare("begin").run()
      database.prepare("insert into things values (?, ?)").run(n, ROW)
      if (marked(n)) database.prepare("insert into marks values (?)").run(n)
      database.prepare("commit").run()
      if (n === checkpointAt) {
        // A reader keeps the log from restarting at its beginning.
        const reader = new Database(file, { readonly: true })
        reader.prepare("begin").run()
        reader.prepare("select count(*) from things").all()
        database.prepare("pragma wal_checkpoint(passive)").all()
        database.prepare("insert into things values (?, ?)").run(0, ROW)
        reader.close()
      }
    }
    const left = join(folder, `${name}-left.db`)
    for (const end of ["", "-wal", "-shm"]) copyFileSync(`${file}${end}`, `${left}${end}`)
    database.close()
    return left
  }

  const after = (left: string, rule: PowerCut.Rule, seed: number) => {
    const file = join(folder, "cut.db")
    for (const end of ["", "-wal", "-shm"]) copyFileSync(`${left}${end}`, `${file}${end}`)
    const cut = PowerCut.cut(file, rule, new Chance(seed))
    const database = new Database(file)
    try {
      expect(database.prepare("pragma integrity_check").raw().all()).toEqual([["ok"]])
      const rows = database.prepare("select n from things where n > 0 order by n").raw().all()
      return { cut, rows: rows.map((row) => (row as ReadonlyArray<number>)[0]) }
    } finally {
      database.close()
    }
  }

  const tries = (name: string, story: Story) => {
    const left = killed(name, story)
    const kept = Array.from({ length: SEEDS }, (_, seed) => {
      const { cut, rows } = after(left, story.rule, seed)
      expect(cut).not.toBeNull()
      // Only whole commits are left, from the first on without gaps.
      expect(rows).toEqual(Array.from({ length: rows.length }, (_, i) => i + 1))
      return rows.length
    })
    return { least: Math.min(...kept), most: Math.max(...kept), different: new Set(kept).size }
  }

  it("takes any number of the newest commits, and only whole ones", () => {
    const story = { rule: { _tag: "NoCommit" }, marked: () => false, checkpointAt: 0 } as const
    expect(tries("none", story)).toMatchObject({ least: 0, most: ROWS, different: expect.toSatisfy((n) => n > 10) })
  })

  it("takes nothing where every commit is synced", () => {
    const story = { rule: { _tag: "EveryCommit" }, marked: () => false, checkpointAt: 0 } as const
    expect(tries("every", story)).toEqual({ least: ROWS, most: ROWS, different: 1 })
  })

  it("takes nothing from before a commit that was synced", () => {
    const story = {
      rule: { _tag: "CommitsTo", table: "marks" },
      marked: (n: number) => n === 17,
      checkpointAt: 0,
    } as const
    expect(tries("marks", story)).toMatchObject({ least: 17, most: ROWS })
  })

  it("takes nothing from before a checkpoint, even an incomplete one", () => {
    const story = { rule: { _tag: "NoCommit" }, marked: () => false, checkpointAt: 21 } as const
    expect(tries("checkpoint", story)).toMatchObject({ least: 21, most: ROWS })
  })
})
