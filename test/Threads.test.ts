import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import * as Threads from "#threads"
import * as CheckBatch from "../src/node/signatures/CheckBatch.js"
import type * as SignatureThreads from "../src/node/signatures/SignatureProgram.js"
import * as Keys from "../src/protocol/identity/Keys.js"
import { Parcel } from "../src/storage/sqlite/Parcel.js"
import type * as Writer from "../src/storage/sqlite/WriterProgram.js"
import * as Bundle from "./support/Bundle.js"

/** A thread, or the process that started it. */
interface Started {
  readonly ask: (request: SignatureThreads.Request | Writer.Request) => Promise<unknown>
  readonly end: () => Promise<unknown>
}

type Start = (program: Threads.Program) => Started

const startedBy =
  (start: typeof Threads.start): Start =>
  (program) => {
    const thread = start(program)
    const ask: Started["ask"] = async (request) => {
      thread.postMessage(request)
      return (await once(thread, "message"))[0]
    }
    return { ask, end: () => thread.terminate() }
  }

const built: Start = (program) => {
  const relay = resolve(import.meta.dirname, "support/relay.mjs")
  const child = fork(relay, [program], { execArgv: [], serialization: "advanced" })
  const ask: Started["ask"] = async (request) => {
    child.send(request)
    return (await once(child, "message"))[0]
  }
  const end = async () => {
    child.kill()
    await once(child, "exit")
  }
  return { ask, end }
}

const key = Keys.SecretKey.generate()
const message = Uint8Array.of(1, 2, 3)
const good = { message, publicKey: key.publicKey, signature: key.sign(message) }
const bad = { ...good, message: Uint8Array.of(4) }

const verdicts = async (start: Start): Promise<unknown> => {
  const { ask, end } = start("node/signatures/SignatureProgram")
  const bytes = CheckBatch.pack([good, bad, good])
  const answers = [await ask({ count: 3, bytes, isByZip215: false }), await ask({ count: 3, bytes, isByZip215: true })]
  await end()
  return answers
}

describe("the programs of threads", () => {
  let folder = ""
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "udg-threads-"))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  describe.each([
    ["from source", startedBy(Threads.start)],
    ["as they are built", built],
  ] as const)("%s", (way, start) => {
    it("check signatures, and by the rule for vertices only up to the first false one", async () => {
      expect(await verdicts(start)).toEqual([Uint8Array.of(1, 0, 1), Uint8Array.of(1, 0, 0)])
    })

    it("write to a file, and say what went wrong", async () => {
      const { ask, end } = start("storage/sqlite/WriterProgram")
      expect(await ask({ what: "open", file: 0, path: join(folder, `${way}.db`), pageBytes: 4_096 })).toEqual({
        rows: [],
      })
      const perform = (texts: ReadonlyArray<string>, statements: ReadonlyArray<readonly [number, unknown[]]>) => {
        const parcel = new Parcel()
        for (const [number, values] of statements) parcel.add(number, values)
        return ask({ what: "perform", file: 0, texts, ...parcel.close() })
      }
      const texts = ["create table things (a, b)", "insert into things values (?, ?)", "select a, b from things"]
      const statements: ReadonlyArray<readonly [number, unknown[]]> = [
        [0, []],
        [1, ["ä€", 1.5]],
        [1, [null, Uint8Array.of(7)]],
        [2, []],
      ]
      const rows = [
        ["ä€", 1.5],
        [null, Uint8Array.of(7)],
      ]
      expect(await perform(texts, statements)).toEqual({ rows })
      expect(await perform(["insert into others values (1)"], [[3, []]])).toEqual({
        problem: { message: "no such table: others", code: "SQLITE_ERROR" },
      })
      expect(await ask({ what: "close", file: 0 })).toEqual({ rows: [] })
      expect(await ask({ what: "close", file: 1 })).toEqual({
        problem: { message: "file 1 is not open", code: undefined },
      })
      await end()
    })
  })

  it("have the faults that are planted in them", async () => {
    const file = "src/node/signatures/SignatureProgram.ts"
    const by = "(request) => original(request).map((verdict) => 1 - verdict)"
    const fault = { name: "verdicts reversed", changes: [{ file, of: "replyTo", by }] }
    const program = await Bundle.make({
      entry: "src/Threads.ts",
      outfile: `threads-${process.pid}/Threads.js`,
      fault,
    })
    onTestFinished(() => rmSync(dirname(program), { recursive: true }))
    const { start }: typeof Threads = await import(pathToFileURL(program).href)
    expect(await verdicts(startedBy(start))).toEqual([Uint8Array.of(0, 1, 0), Uint8Array.of(0, 1, 1)])
  })
})
