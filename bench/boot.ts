/** Time from `node dist/main.js` to its first response, on a network that is a few rounds old. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../test/ops/RealNginx.js"
import { type Figure, median, type Suite } from "./Harness.js"
import * as Programs from "./Programs.js"

const STARTS = 9
const LOOK_MS = 5

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/status`).then(
    ({ ok }) => ok,
    () => false,
  )

const timeOf = async (command: ReadonlyArray<string>, until: () => Promise<boolean>): Promise<number> => {
  const [node = process.execPath, ...words] = command
  const began = performance.now()
  const child = spawn(node, words, { stdio: "ignore" })
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
    const programs = Programs.all()
    const measured = await Promise.all(
      programs.map(async ({ words, program: { program, node } }, i) => {
        const [port, rpcPort] = [await freePort(), await freePort()]
        const places = ["--host", "127.0.0.1", "--port", String(port), "--rpc-port", String(rpcPort)]
        return {
          title: programs.length === 1 ? "" : `${words}: `,
          rpcPort,
          serving: [node, program, "--data-dir", join(folder, String(i)), ...places],
          version: [node, program, "--version"],
          bare: [node, "-e", "0"],
          times: { starts: [] as Array<number>, versions: [] as Array<number>, bare: [] as Array<number> },
        }
      }),
    )
    // The first start creates the network.
    for (let i = 0; i <= STARTS; i++) {
      for (const { serving, rpcPort, times } of measured)
        times.starts.push(await timeOf(serving, () => answers(rpcPort)))
    }
    for (let i = 0; i < STARTS; i++) {
      for (const { version, bare, times } of measured) {
        times.versions.push(await timeOf(version, async () => false))
        times.bare.push(await timeOf(bare, async () => false))
      }
    }
    return measured.flatMap(({ title, times: { starts, versions, bare } }) => {
      const started = median(starts.slice(1))
      return [
        { name: `${title}the very first, which makes the network`, value: starts[0] ?? Number.NaN, unit: "ms" },
        { name: `${title}until /status answers, median`, value: started, unit: "ms" },
        { name: `${title}udg --version, median`, value: median(versions), unit: "ms" },
        { name: `${title}node -e 0, median`, value: median(bare), unit: "ms" },
        { name: `${title}until /status answers, of that`, value: started / median(bare), unit: "times" },
      ]
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const suite: Suite = { about: `how long the program takes to start, ${STARTS} starts`, figures }
