/** Stands in for `src/Threads.ts`: threads run their programs in turn, and messages take their time. */
import { EventEmitter } from "node:events"
import { createRequire } from "node:module"
import type { Machine } from "./Time.js"
import * as Universe from "./Universe.js"

/** Mostly at once, and sometimes as late as from a machine that is busy. */
const PROMPT_MS = 0.2
const LATE_MS = 300
const LATE_PERCENT = 1

const require = createRequire(import.meta.url)

/** One direction between two threads: nothing overtakes. */
class Way {
  readonly #machine: Machine
  #lastAt = 0

  constructor(machine: Machine) {
    this.#machine = machine
  }

  send(act: () => void): void {
    const { time, chance } = Universe.here()
    const delay = chance.percent(LATE_PERCENT) ? chance.below(LATE_MS) : PROMPT_MS
    this.#lastAt = Math.max(this.#lastAt, time.now() + delay + this.#machine.lateMs)
    this.#machine.after(this.#lastAt - time.now(), act)
  }
}

class Thread extends EventEmitter {
  readonly #port = new EventEmitter()
  readonly machine = Universe.here().time.here
  readonly #there = new Way(this.machine)
  readonly #back = new Way(this.machine)
  readonly program: string
  #isOver = false

  constructor(program: string, workerData: unknown) {
    super()
    this.program = program
    const postMessage = (message: unknown): void => {
      const copy = structuredClone(message)
      this.#back.send(() => {
        if (!this.#isOver) this.emit("message", copy)
      })
    }
    const threads = { parentPort: Object.assign(this.#port, { postMessage }), workerData }
    const provide = (name: string) => (name === "node:worker_threads" ? threads : require(name))
    this.#there.send(() => {
      try {
        new Function("require", Universe.here().textOf(program))(provide)
      } catch (error) {
        this.#back.send(() => this.emit("error", error))
      }
    })
  }

  postMessage(message: unknown, transfer: ReadonlyArray<ArrayBuffer> = []): void {
    const copy = structuredClone(message, { transfer: [...transfer] })
    this.#there.send(() => {
      if (!this.#isOver) this.#port.emit("message", copy)
    })
  }

  /** Ends it with what it has not answered. */
  fail(): void {
    this.#isOver = true
    this.emit("error", new Error("the thread has died"))
    this.emit("exit", 1)
  }

  terminate(): Promise<number> {
    return new Promise((resolve) => {
      this.#there.send(() => {
        if (!this.#isOver) this.emit("exit", 1)
        this.#isOver = true
        resolve(1)
      })
    })
  }

  ref(): void {}

  unref(): void {}
}

/** Those that run, by their machines. */
const threads = new Map<Machine, Set<Thread>>()

/** Ends the machine's threads with this program as an error in it would. */
export const end = (machine: Machine, program: string): void => {
  for (const thread of threads.get(machine) ?? []) if (thread.program === program) machine.run(() => thread.fail())
}

export const PROGRAMS = []

export const start = (program: string, data?: string): Thread => {
  const thread = new Thread(program, data)
  const all = threads.get(thread.machine) ?? new Set()
  threads.set(thread.machine, all.add(thread))
  thread.once("exit", () => all.delete(thread))
  return thread
}
