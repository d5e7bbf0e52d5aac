/** Real processes with a storage of their own, which a test can kill. */
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { Effect } from "effect"

export type Script = "hold" | "append" | "fill"

const commandOf = (script: Script, args: ReadonlyArray<string>): ReadonlyArray<string> => [
  process.execPath,
  "--conditions=udg-source",
  "--import",
  "tsx",
  resolve(import.meta.dirname, `processes/${script}.ts`),
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

  /** The next line it prints; none when it has ended. */
  readonly line = Effect.promise(async () => {
    const { done, value } = await this.#lines.next()
    return done === true ? undefined : value
  })

  readonly kill = Effect.promise(async () => {
    this.#child.kill("SIGKILL")
    await this.#ended
  })
}

const scoped = (command: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => new Process(command)),
    (child) => child.kill,
  )

export const start = (script: Script, ...args: ReadonlyArray<string>) => scoped(commandOf(script, args))

/** A file system of its own that nobody else sees, mounted over `path` with these options. */
export const startOnMount = (options: string, script: Script, path: string) =>
  scoped([
    "unshare",
    "-rm",
    "sh",
    "-c",
    `mount -t tmpfs -o ${options} tmpfs "$0" && exec "$@"`,
    path,
    ...commandOf(script, [path]),
  ])

/** Whether this system lets us mount in a namespace of our own. */
export const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0
