/** Another node as a child process: started, asked for its addresses, and stopped. */
import { type ChildProcess, spawn } from "node:child_process"
import { open, readFile } from "node:fs/promises"
import { Data, Effect, type Scope } from "effect"

export interface NodeProcess {
  readonly name: string
  /** As KEY@HOST:PORT. */
  readonly p2p: string
  /** Where it serves HTTP. */
  readonly rpc: string
  readonly logFile: string
  /** Fails when the process ends. */
  readonly ended: Effect.Effect<never, NodeEnded>
}

export class NodeEnded extends Data.TaggedError("NodeEnded")<{
  readonly name: string
  readonly code: number | null
  readonly logFile: string
  /** What it said last, if that was a complaint. */
  readonly complaint: string | undefined
}> {
  override get message(): string {
    const how = this.code === null ? "was killed" : `ended with exit code ${this.code}`
    const why = this.complaint === undefined ? "" : `: ${this.complaint}`
    return `${this.name} ${how}${why}; its log is in ${this.logFile}`
  }
}

/** A program of ours that cannot run says why in its last line. The node that it is in the way of may log there as well. */
const lastComplaint = (logFile: string, from: number): Effect.Effect<string | undefined> =>
  Effect.promise(async () => {
    const log = await readFile(logFile).catch(() => Buffer.alloc(0))
    return [...log.toString("utf8", from).matchAll(/^udg: (.+)$/gm)].at(-1)?.[1]
  })

/** How to start a process: under which name, with which command line, logging where. */
export interface Launch {
  readonly name: string
  readonly logFile: string
  readonly words: ReadonlyArray<string>
}

/** A node stops within five seconds; one that takes longer hangs. */
const STOP_LIMIT = "8 seconds"

const codeOf = (child: ChildProcess): Effect.Effect<number | null> =>
  Effect.async((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resume(Effect.succeed(child.exitCode))
      return
    }
    const onExit = (code: number | null) => resume(Effect.succeed(code))
    child.once("exit", onExit)
    return Effect.sync(() => child.off("exit", onExit))
  })

const stop = (child: ChildProcess): Effect.Effect<void> =>
  Effect.sync(() => child.kill("SIGTERM")).pipe(
    // A release cannot be interrupted unless it says so, and a time-out waits for what it interrupts.
    Effect.zipRight(Effect.timeoutOption(Effect.interruptible(codeOf(child)), STOP_LIMIT)),
    Effect.zipRight(Effect.sync(() => child.kill("SIGKILL"))),
    Effect.zipRight(codeOf(child)),
  )

const spawned = ({ logFile, words }: Launch) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const log = await open(logFile, "a", 0o600)
      const { size: logged } = await log.stat()
      // The same program under the same interpreter, which needs nothing but its own file.
      // In its own process group: Ctrl-C reaches only this process, which asks each node once. A node takes a second signal
      // as "stop at once".
      const child = spawn(process.execPath, [process.argv[1] ?? "", ...words], {
        stdio: ["ignore", "pipe", log.fd],
        detached: true,
      })
      await log.close()
      return { child, logged }
    }),
    ({ child }) => stop(child),
  )

const LINE = /^ {2}(rpc|p2p) +(\S+)$/gm

/** The addresses in its first lines, once they are complete. */
const addresses = (child: ChildProcess): Effect.Effect<ReadonlyMap<string, string>> =>
  Effect.async((resume) => {
    let text = ""
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      text += part
      if (!/^ {2}validator /m.test(text)) return
      resume(Effect.succeed(new Map([...text.matchAll(LINE)].map(([, name = "", value = ""]) => [name, value]))))
    })
  })

/** Starts the process and waits until it can be reached. It is stopped with the scope. */
export const start = (launch: Launch): Effect.Effect<NodeProcess, NodeEnded, Scope.Scope> =>
  Effect.gen(function* () {
    const { name, logFile } = launch
    const { child, logged } = yield* spawned(launch)
    const ended = Effect.gen(function* () {
      const code = yield* codeOf(child)
      return yield* new NodeEnded({ name, code, logFile, complaint: yield* lastComplaint(logFile, logged) })
    })
    const lines = yield* Effect.raceFirst(addresses(child), ended)
    return { name, logFile, ended, p2p: lines.get("p2p") ?? "", rpc: lines.get("rpc") ?? "" }
  })
