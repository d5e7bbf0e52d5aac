/** A node as a child process: starts it, reads its addresses and stops it. */
import { type ChildProcess, spawn } from "node:child_process"
import { open, readFile } from "node:fs/promises"
import { Data, Effect, type Scope } from "effect"

export interface NodeProcess {
  readonly name: string
  /** `KEY@HOST:PORT`. */
  readonly p2p: string
  /** The URL of its HTTP interface. */
  readonly rpc: string
  readonly logFile: string
  /** Fails when the process ends. */
  readonly ended: Effect.Effect<never, NodeEnded>
}

export class NodeEnded extends Data.TaggedError("NodeEnded")<{
  readonly name: string
  readonly code: number | null
  readonly logFile: string
  /** Its last line, if that was an error. */
  readonly complaint: string | undefined
}> {
  override get message(): string {
    const how = this.code === null ? "was killed" : `ended with exit code ${this.code}`
    const why = this.complaint === undefined ? "" : `: ${this.complaint}`
    return `${this.name} ${how}${why}; its log is in ${this.logFile}`
  }
}

/** The error in a node's last line. Another node that blocks this one can write to the same log. */
const lastComplaint = (logFile: string, from: number): Effect.Effect<string | undefined> =>
  Effect.promise(async () => {
    const log = await readFile(logFile).catch(() => Buffer.alloc(0))
    return [...log.toString("utf8", from).matchAll(/^udg: (.+)$/gm)].at(-1)?.[1]
  })

/** A process to start: its name, command line and log file. */
export interface Launch {
  readonly name: string
  readonly logFile: string
  readonly words: ReadonlyArray<string>
}

/** A node stops within five seconds, so one that takes longer hangs. */
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
    // A release is uninterruptible by default, and a timeout waits for the effect that it interrupts.
    Effect.zipRight(Effect.timeoutOption(Effect.interruptible(codeOf(child)), STOP_LIMIT)),
    Effect.zipRight(Effect.sync(() => child.kill("SIGKILL"))),
    Effect.zipRight(codeOf(child)),
  )

const spawned = ({ logFile, words }: Launch) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const log = await open(logFile, "a", 0o600)
      const { size: logged } = await log.stat()
      // The same program under the same interpreter needs only its own file. The separate process group keeps Ctrl-C
      // from reaching the node: a node takes a second signal as "stop at once", and this process sends the first.
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

/** Waits until the first lines of output contain all addresses. */
const addresses = (child: ChildProcess): Effect.Effect<ReadonlyMap<string, string>> =>
  Effect.async((resume) => {
    let text = ""
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      text += part
      if (!/^ {2}validator /m.test(text)) return
      resume(Effect.succeed(new Map([...text.matchAll(LINE)].map(([, name = "", value = ""]) => [name, value]))))
    })
  })

/** Starts the process and waits until it is reachable. The scope stops it. */
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
