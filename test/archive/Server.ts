/** A PostgreSQL server for one test: a cluster in a new directory, reached through a socket in that directory. */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process"
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Pg from "pg"

const VERSIONS = "/usr/lib/postgresql"

const binaries = (existsSync(VERSIONS) ? readdirSync(VERSIONS) : [])
  .map((version) => join(VERSIONS, version, "bin"))
  .filter((folder) => existsSync(join(folder, "initdb")))

/** PostgreSQL refuses to run as root; its package creates a user for it. */
const userOf = (): { readonly uid: number; readonly gid: number } | Record<string, never> => {
  if (process.getuid?.() !== 0) return {}
  const id = (which: string) => Number(execFileSync("id", [which, "postgres"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** Whether PostgreSQL is installed. */
export const isThere = binaries.length > 0

export interface Server {
  /** Creates a database and returns its URL. */
  readonly create: (name: string) => Promise<string>
  readonly pid: () => number
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** Runs a statement on a new connection, and returns the rows. */
export const query = async (
  url: string,
  text: string,
  values: ReadonlyArray<unknown> = [],
): Promise<ReadonlyArray<ReadonlyArray<unknown>>> => {
  const client = new Pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query({ text, values: [...values], rowMode: "array" })
    return rows
  } finally {
    await client.end()
  }
}

const tool = (name: string, words: ReadonlyArray<string>) =>
  promisify(execFile)(join(binaries.at(-1) ?? "", name), [...words])

/** Dumps into a new folder, with the command of docs/operations/archive.md. */
export const dump = async (url: string, folder: string): Promise<void> =>
  void (await tool("pg_dump", ["-Fd", "-j", "4", "-f", folder, url]))

/** Restores into an empty database. */
export const restore = async (folder: string, url: string): Promise<void> =>
  void (await tool("pg_restore", ["-j", "4", "-d", url, folder]))

const urlOf = (folder: string, name: string): string =>
  `postgres://udg@localhost/${name}?host=${encodeURIComponent(folder)}`

/** `settings` are lines of postgresql.conf, such as `shared_buffers=1GB`. */
export const make = async (settings: ReadonlyArray<string> = []): Promise<Server> => {
  const bin = binaries.at(-1) ?? ""
  const user = userOf()
  const folder = mkdtempSync(join(tmpdir(), "udg-pg-"))
  const data = join(folder, "data")
  if ("uid" in user) chownSync(folder, user.uid ?? 0, user.gid ?? 0)
  chmodSync(folder, 0o755)
  const environment = { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8" }
  const options = { ...user, cwd: folder, env: environment }
  const initial = ["-D", data, "-U", "udg", "-A", "trust", "-E", "UTF8", "--no-sync"]
  execFileSync(join(bin, "initdb"), initial, { ...options, stdio: "ignore" })
  let running: ChildProcess | null = null
  const start = async () => {
    // The system keeps what a killed process has written, so no sync is needed here.
    const all = ["listen_addresses=", "fsync=off", ...settings]
    const words = ["-D", data, "-k", folder, ...all.flatMap((setting) => ["-c", setting])]
    running = spawn(join(bin, "postgres"), words, { ...options, stdio: "ignore" })
    for (;;) {
      const isUp = await query(urlOf(folder, "postgres"), "select 1").then(
        () => true,
        () => false,
      )
      if (isUp) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      if (running === null || running.exitCode !== null || running.signalCode !== null) return resolve()
      running.once("exit", () => resolve())
      running.kill(signal)
    })
  await start()
  return {
    create: async (name) => {
      await query(urlOf(folder, "postgres"), `create database ${name}`)
      return urlOf(folder, name)
    },
    pid: () => running?.pid ?? 0,
    kill: () => end("SIGKILL"),
    start,
    remove: async () => {
      await end("SIGINT")
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
