/** Real processes with their own storage, which a test can kill. */
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { rm } from "node:fs/promises"
import { dirname } from "node:path"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { Effect } from "effect"
import * as Bundle from "../support/Bundle.js"

export type Script = "hold" | "append" | "fill"

/** Bundled once per test file, so that the processes start in a fraction of the time. */
const bundles = new Map<Script, Promise<string>>()

const bundleOf = (script: Script): Promise<string> => {
  const known = bundles.get(script)
  if (known !== undefined) return known
  const outfile = `storage-${script}-${process.pid}/${script}.mjs`
  const made = Bundle.make({ entry: `test/storage/processes/${script}.ts`, outfile })
  bundles.set(script, made)
  return made
}

/** For the test file that starts processes. */
export const removeBundles = async (): Promise<void> => {
  for (const made of bundles.values()) await rm(dirname(await made), { recursive: true, force: true })
  bundles.clear()
}

const commandOf = async (script: Script, args: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => [
  process.execPath,
  await bundleOf(script),
  ...args,
]

export class Process {
  readonly #child: ChildProcessByStdio<null, Readable, null>
  readonly #ended: Promise<unknown>
  readonly #lines: AsyncIterator<string>

  constructor([command = "", ...args]: ReadonlyArray<string>) {
    this.#child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] })
    this.#ended = once(this.#child, "exit")
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** The next line it prints; undefined when it has ended. */
  readonly line = Effect.promise(async () => {
    const { done, value } = await this.#lines.next()
    return done === true ? undefined : value
  })

  readonly kill = Effect.promise(async () => {
    this.#child.kill("SIGKILL")
    await this.#ended
  })
}

const scoped = (command: () => Promise<ReadonlyArray<string>>) =>
  Effect.acquireRelease(
    Effect.promise(async () => new Process(await command())),
    (child) => child.kill,
  )

export const start = (script: Script, ...args: ReadonlyArray<string>) => scoped(() => commandOf(script, args))

/** Runs with a private file system mounted over `path` with these options. */
export const startOnMount = (options: string, script: Script, path: string) =>
  scoped(async () => [
    "unshare",
    "-rm",
    "sh",
    "-c",
    `mount -t tmpfs -o ${options} tmpfs "$0" && exec "$@"`,
    path,
    ...(await commandOf(script, [path])),
  ])

/** Whether this system allows mounts in a private namespace. */
export const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0
