/** Stands in for `src/Threads.ts`: threads run their programs in turn, and messages take their time. */
import { EventEmitter } from "node:events"
import { createRequire } from "node:module"
import * as os from "node:os"
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
    this.#lastAt = Math.max(this.#lastAt, time.moment + delay + this.#machine.lateMs)
    this.#machine.at(this.#lastAt, act)
  }
}

/** Its priority is that of the whole process. */
const system = { ...os, getPriority: () => os.constants.priority.PRIORITY_LOW }

class Thread extends EventEmitter {
  readonly machine = Universe.here().time.here
  readonly program: string
  readonly #port = new EventEmitter()
  readonly #there = new Way(this.machine)
  readonly #back = new Way(this.machine)
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
    const modules: Readonly<Record<string, unknown>> = { "node:worker_threads": threads, "node:os": system }
    const text = Universe.here().textOf(program)
    this.#do(() => new Function("require", text)((name: string) => modules[name] ?? require(name)))
  }

  #do(work: () => void): void {
    this.#there.send(() => {
      if (this.#isOver) return
      try {
        work()
      } catch (error) {
        this.fail(error)
      }
    })
  }

  /** Ends it as an error in it does, with what it has not answered. */
  fail(error: unknown): void {
    this.#isOver = true
    this.emit("error", error)
    this.emit("exit", 1)
  }

  postMessage(message: unknown, transfer: ReadonlyArray<ArrayBuffer> = []): void {
    const copy = structuredClone(message, { transfer: [...transfer] })
    this.#do(() => this.#port.emit("message", copy))
  }

  terminate(): Promise<number> {
    const wasOver = this.#isOver
    this.#isOver = true
    return new Promise((resolve) => {
      this.machine.after(0, () => {
        if (!wasOver) this.emit("exit", 1)
        resolve(1)
      })
    })
  }

  ref(): void {}

  unref(): void {}
}

/** Those that run, by their machines. */
const threads = new Map<Machine, Set<Thread>>()

/** Ends the machine's threads with this program as an error in it would. Returns how many there were. */
export const end = (machine: Machine, program: string): number => {
  const all = [...(threads.get(machine) ?? [])].filter((thread) => thread.program === program)
  for (const thread of all) machine.run(() => thread.fail(new Error("the thread has died")))
  return all.length
}

const threadsOf = (machine: Machine): Set<Thread> => {
  const known = threads.get(machine)
  if (known !== undefined) return known
  const all = new Set<Thread>()
  threads.set(machine, all)
  machine.onDeath(() => threads.delete(machine))
  return all
}

export const start = (program: string, data?: string): Thread => {
  const thread = new Thread(program, data)
  const all = threadsOf(thread.machine).add(thread)
  thread.once("exit", () => all.delete(thread))
  return thread
}
