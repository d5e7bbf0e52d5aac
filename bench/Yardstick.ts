/** The machine's speed without our code, as the reference for all other figures. */
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { randomBytes, sha256, verifyNative } from "#crypto"
import * as Keys from "../src/protocol/identity/Keys.js"
import { Sqlite } from "../src/storage/sqlite/Driver.js"
import { type Figure, median } from "./Harness.js"
import * as HttpLoad from "./HttpLoad.js"

/** The length of a transfer. */
const MESSAGE_BYTES = 145
const ROWS = 1_000
const ROW_BYTES = 200
const CONNECTIONS = 32
const MILLISECONDS = 2_000

/** Also for warming up. */
const REPETITION_MS = 200
const REPETITIONS = 7
/** Runs between two readings of the clock, so that the clock is not measured. */
const BATCH = 16

/** Runs per second. */
const perSecondOf = (run: () => unknown): number => {
  const started = performance.now()
  let runs = 0
  let elapsed = 0
  while (elapsed < REPETITION_MS) {
    for (let i = 0; i < BATCH; i++) run()
    runs += BATCH
    elapsed = performance.now() - started
  }
  return (runs * 1_000) / elapsed
}

const rateOf = (name: string, run: () => unknown, operations = 1): Figure => {
  perSecondOf(run)
  const rates = Array.from({ length: REPETITIONS }, () => perSecondOf(run) * operations)
  return { name, value: median(rates), unit: "a second" }
}

const oneVerification = (): (() => boolean) => {
  const key = Keys.SecretKey.generate()
  const message = randomBytes(MESSAGE_BYTES)
  const signature = Buffer.from(key.sign(message), "hex")
  const publicKey = Buffer.from(key.publicKey, "hex")
  return () => verifyNative(signature, message, publicKey)
}

const verification = () => rateOf("signatures checked, one core", oneVerification())

const VERIFICATIONS = 5_000

/** Processor time of one verification, which is independent of other load. */
export const signatureUs = (): number => {
  const verify = oneVerification()
  const each = Array.from({ length: REPETITIONS }, () => {
    const before = process.cpuUsage()
    for (let i = 0; i < VERIFICATIONS; i++) verify()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / VERIFICATIONS
  })
  return median(each)
}

/**
 * Runs something and reports a verification's time around it, because a shared machine can be twice as slow a minute
 * later.
 */
export const beside = async <A>(run: () => Promise<A>): Promise<A & { readonly signatureUs: number }> => {
  const before = signatureUs()
  const outcome = await run()
  return { ...outcome, signatureUs: (before + signatureUs()) / 2 }
}

const hashing = () => {
  const message = randomBytes(MESSAGE_BYTES)
  return rateOf(`SHA-256 of ${MESSAGE_BYTES} bytes`, () => sha256(message))
}

const bareHttp = async (): Promise<Figure> => {
  const server = createServer((_, response) => response.end("{}"))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const requests = ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"]
  const { perSecond } = await HttpLoad.run({ port, requests, connections: CONNECTIONS, milliseconds: MILLISECONDS })
  server.closeAllConnections()
  server.close()
  return { name: `bare node:http, ${CONNECTIONS} connections`, value: perSecond, unit: "a second" }
}

const bareInserts = (): Figure => {
  const folder = mkdtempSync(join(tmpdir(), "udg-bench-"))
  const database = new Sqlite(join(folder, "rows.db"))
  try {
    database.prepare("pragma journal_mode = wal").all()
    database.prepare("create table rows (key blob primary key, value blob) without rowid").run()
    const [begin, commit] = [database.prepare("begin"), database.prepare("commit")]
    const insert = database.prepare("insert into rows values (?, ?)")
    const value = randomBytes(ROW_BYTES)
    const insertAll = () => {
      begin.run()
      for (let i = 0; i < ROWS; i++) insert.run(randomBytes(32), value)
      commit.run()
    }
    return rateOf(`SQLite rows of ${ROW_BYTES} bytes, ${ROWS} a transaction`, insertAll, ROWS)
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}

export const measureMachine = async (): Promise<ReadonlyArray<Figure>> => [
  verification(),
  hashing(),
  await bareHttp(),
  bareInserts(),
]
