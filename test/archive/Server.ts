/** A PostgreSQL server of the test's own: a cluster in a new directory, reached through a socket in it. */
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

/** Where the tests run as root, the server must be another user; the package makes one. */
const userOf = (): { readonly uid: number; readonly gid: number } | Record<string, never> => {
  if (process.getuid?.() !== 0) return {}
  const id = (which: string) => Number(execFileSync("id", [which, "postgres"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** Whether there is a server to test with. */
export const isThere = binaries.length > 0

export interface Server {
  /** The URL of a new database on it. */
  readonly create: (name: string) => Promise<string>
  readonly pid: () => number
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** What a statement returns, from a connection of its own. */
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

/** As docs/operations/archive.md says, into a folder that is not there yet. */
export const dump = async (url: string, folder: string): Promise<void> =>
  void (await tool("pg_dump", ["-Fd", "-j", "4", "-f", folder, url]))

/** Into an empty database. */
export const restore = async (folder: string, url: string): Promise<void> =>
  void (await tool("pg_restore", ["-j", "4", "-d", url, folder]))

const urlOf = (folder: string, name: string): string =>
  `postgres://udg@localhost/${name}?host=${encodeURIComponent(folder)}`

/** `settings` are those of postgresql.conf, such as `shared_buffers=1GB`. */
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
    // Killed processes leave what they have written with the system, so nothing needs a sync here.
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
