/** Simulates other load: processes that keep a share of every processor busy. */
import { type ChildProcess, spawn } from "node:child_process"
import { availableParallelism } from "node:os"

const SLICE_MS = 10

const program = (share: number): string => `
  setInterval(() => {
    const until = performance.now() + ${share * SLICE_MS}
    while (performance.now() < until) {}
  }, ${SLICE_MS})
  process.on("disconnect", () => process.exit())`

const ended = (child: ChildProcess): Promise<unknown> => {
  const gone = new Promise((resolve) => child.once("exit", resolve))
  child.kill()
  return gone
}

/** Runs something while this share of all processors is busy. */
export const withhold = async <A>(share: number, run: () => Promise<A>): Promise<A> => {
  const children = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ["-e", program(share)], { stdio: ["ignore", "ignore", "ignore", "ipc"] }),
  )
  try {
    return await run()
  } finally {
    await Promise.all(children.map(ended))
  }
}
