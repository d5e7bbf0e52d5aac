/** Runs the built signer as a process. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import type { Executed } from "../network/Processes.js"

const built = resolve(import.meta.dirname, "../../dist/main.js")

export interface Place {
  readonly directory: string
  readonly genesisFile: string
  /** Where the validator's key is. */
  readonly keyFile?: string
  readonly keyProgram?: string
  /** The built program by default. */
  readonly executed?: Required<Executed> | undefined
}

export interface SignerProcess {
  readonly id: PeerId
  readonly port: number
  readonly log: () => string
  readonly signal: (name: NodeJS.Signals) => void
  readonly kill: () => Promise<void>
  /** The processes that it has started. */
  readonly children: () => Promise<ReadonlyArray<number>>
  /** Its exit code once it has ended. */
  readonly ended: Promise<number | null>
}

const ended = (child: ChildProcess): Promise<void> => new Promise((settle) => child.once("close", () => settle()))

const wordsOf = ({ directory, genesisFile, keyFile, keyProgram }: Place): ReadonlyArray<string> => [
  ...["--data-dir", directory, "--genesis", genesisFile],
  ...(keyFile === undefined ? [] : ["--validator-key", keyFile]),
  ...(keyProgram === undefined ? [] : ["--key-program", keyProgram]),
]

/** Returns the exit code of `udg signer sign-from`. */
export const signFrom = async (place: Place, from: string): Promise<number | null> => {
  const words = [built, "signer", "sign-from", from, ...wordsOf(place)]
  const child = spawn(process.execPath, words, { stdio: "ignore" })
  await ended(child)
  return child.exitCode
}

const running = new Set<ChildProcess>()

/** Kills the processes that a test left running. */
export const killAll = (): void => {
  for (const child of running) child.kill("SIGKILL")
}

/** Starts a signer for these nodes. Returns when it listens. */
export const start = (
  place: Place,
  nodes: ReadonlyArray<string>,
  port = 0,
  more: ReadonlyArray<string> = [],
): Promise<SignerProcess> => {
  const serve = nodes.flatMap((node) => ["--serve", node])
  const { program, execArgv } = place.executed ?? { program: built, execArgv: [] }
  const words = [...execArgv, program, "signer", ...wordsOf(place), ...serve, "--port", String(port), ...more]
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] })
  running.add(child)
  child.once("close", () => running.delete(child))
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGKILL")
    await ended(child)
  }
  const said = { out: "", log: "" }
  child.stderr.on("data", (piece) => (said.log += String(piece)))
  return new Promise((settle, fail) => {
    child.stdout.on("data", (piece) => {
      said.out += String(piece)
      const [, id, found] = /([0-9a-f]{64})@127\.0\.0\.1:(\d+)/.exec(said.out) ?? []
      if (id === undefined) return
      settle({
        ...{ id: id as PeerId, port: Number(found), log: () => said.log, signal: (name) => child.kill(name), kill },
        children: async () => {
          const text = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")
          return text.split(" ").filter(Boolean).map(Number)
        },
        ended: ended(child).then(() => child.exitCode),
      })
    })
    child.once("close", () => fail(new Error(`the signer ended: ${said.log}`)))
  })
}
