/** The built signer as a process. */
import { type ChildProcess, spawn } from "node:child_process"
import { resolve } from "node:path"
import type { PeerId } from "../../src/replica/messages/Peer.js"

const built = resolve(import.meta.dirname, "../../dist/main.js")

export interface Place {
  readonly directory: string
  readonly genesisFile: string
  readonly keyFile: string
}

export interface SignerProcess {
  readonly id: PeerId
  readonly port: number
  readonly log: () => string
  readonly signal: (name: NodeJS.Signals) => void
  readonly kill: () => Promise<void>
}

const ended = (child: ChildProcess): Promise<void> => new Promise((settle) => child.once("close", () => settle()))

const wordsOf = ({ directory, genesisFile, keyFile }: Place): ReadonlyArray<string> => [
  ...["--data-dir", directory, "--genesis", genesisFile],
  ...["--validator-key", keyFile],
]

/** The exit code of `udg signer sign-from`. */
export const signFrom = async (place: Place, from: string): Promise<number | null> => {
  const words = [built, "signer", "sign-from", from, ...wordsOf(place)]
  const child = spawn(process.execPath, words, { stdio: "ignore" })
  await ended(child)
  return child.exitCode
}

const running = new Set<ChildProcess>()

/** Kills what a test has left. */
export const killAll = (): void => {
  for (const child of running) child.kill("SIGKILL")
}

/** Serves these nodes, and returns when it listens. */
export const start = (place: Place, nodes: ReadonlyArray<string>, port = 0): Promise<SignerProcess> => {
  const serve = nodes.flatMap((node) => ["--serve", node])
  const words = [built, "signer", ...wordsOf(place), ...serve, "--port", String(port)]
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
      settle({ id: id as PeerId, port: Number(found), log: () => said.log, signal: (name) => child.kill(name), kill })
    })
    child.once("close", () => fail(new Error(`the signer ended: ${said.log}`)))
  })
}
