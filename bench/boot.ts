/** From `node dist/main.js` to its first answer, with the state of a network that is a few rounds old. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Figure, median, type Suite } from "./Harness.js"

const STARTS = 9
const LOOK_MS = 5
const PROGRAM = join(import.meta.dirname, "..", "dist", "main.js")

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/status`).then(
    ({ ok }) => ok,
    () => false,
  )

const timeOf = async (words: ReadonlyArray<string>, until: () => Promise<boolean>): Promise<number> => {
  const began = performance.now()
  const child = spawn(process.execPath, words, { stdio: "ignore" })
  const ended = once(child, "exit")
  while (!(await until())) {
    if (child.exitCode !== null) break
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  const time = performance.now() - began
  child.kill("SIGTERM")
  await ended
  return time
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const folder = mkdtempSync(join(tmpdir(), "udg-bench-"))
  try {
    const [port, rpcPort] = [await freePort(), await freePort()]
    const places = ["--host", "127.0.0.1", "--port", String(port), "--rpc-port", String(rpcPort)]
    const words = [PROGRAM, "--data-dir", join(folder, "data"), ...places]
    const starts: Array<number> = []
    // The first makes the network.
    for (let i = 0; i <= STARTS; i++) starts.push(await timeOf(words, () => answers(rpcPort)))
    const [versions, bare]: [Array<number>, Array<number>] = [[], []]
    for (let i = 0; i < STARTS; i++) {
      versions.push(await timeOf([PROGRAM, "--version"], async () => false))
      bare.push(await timeOf(["-e", "0"], async () => false))
    }
    const started = median(starts.slice(1))
    return [
      { name: "the very first, which makes the network", value: starts[0] ?? Number.NaN, unit: "ms" },
      { name: "until /status answers, median", value: started, unit: "ms" },
      { name: "udg --version, median", value: median(versions), unit: "ms" },
      { name: "node -e 0, median", value: median(bare), unit: "ms" },
      { name: "until /status answers, of that", value: started / median(bare), unit: "times" },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const suite: Suite = { about: `how long the program takes to start, ${STARTS} starts`, figures }
