/** Runs the built program as an archive, and as a gateway. */
import { type ChildProcess, spawn } from "node:child_process"
import { join, resolve } from "node:path"
import type * as Processes from "../network/Processes.js"

const built = resolve(import.meta.dirname, "../../dist/main.js")

export interface Follower {
  readonly child: ChildProcess
  readonly directory: string
  readonly said: () => string
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>
}

export const follow = (
  network: Pick<Processes.Founded, "folder" | "genesisFile">,
  name: string,
  database: string,
  peer: Pick<Processes.Started, "p2p">,
  { program = built, execArgv = [] }: Processes.Executed = {},
): Follower => {
  const directory = join(network.folder, `archive-${name}`)
  const words = ["archive", "--genesis", network.genesisFile, "--data-dir", directory]
  const places = ["--host", "127.0.0.1", "--port", "0", "--peer", peer.p2p]
  const child = spawn(process.execPath, [...execArgv, program, ...words, ...places], {
    env: { PATH: process.env["PATH"] ?? "", UDG_DATABASE: database },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let text = ""
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => {
      text += part
    })
  const ended = new Promise<number | null>((settle) => child.on("close", settle))
  return {
    child,
    directory,
    said: () => text,
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}
