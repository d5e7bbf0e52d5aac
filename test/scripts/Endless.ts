/** A program for `Deadline.test.ts`: runs the named story, and reports if it reaches its end. */
import { spawn } from "node:child_process"
import { Deadline, usedMs } from "../../scripts/mutations/Deadline.js"

const LIMIT_MS = 400

const compute = (milliseconds: number): void => {
  const end = usedMs() + milliseconds
  while (usedMs() < end);
}

const stories: Readonly<Record<string, () => Promise<void>>> = {
  short: async () => compute(LIMIT_MS / 4),
  /** As on a machine whose processors others use: time passes, but this process does not run. */
  starved: async () => {
    const began = performance.now()
    spawn("sh", ["-c", `sleep 1; kill -CONT ${process.pid}`], { stdio: "ignore" })
    process.kill(process.pid, "SIGSTOP")
    compute(LIMIT_MS / 4)
    if (performance.now() - began < 2 * LIMIT_MS) throw new Error("was not starved")
  },
  "a loop": async () => {
    for (;;);
  },
  "a loop after a wait": async () => {
    await undefined
    for (;;);
  },
  "endless waits": async () => {
    for (;;) await undefined
  },
  "a wait in vain": () => new Promise(() => {}),
}

const [, , name = "", mark = ""] = process.argv
await new Deadline().within(LIMIT_MS, mark, stories[name] ?? Promise.reject)
process.exit(0)
