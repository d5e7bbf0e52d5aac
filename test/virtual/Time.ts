/**
 * Virtual time for a whole process: its timers, clocks and calls of the file system belong to machines, and the clock
 * jumps from one event to the next. A paused machine's events wait, and a dead one's are lost.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { createRequire, syncBuiltinESMExports } from "node:module"
import { Agenda } from "../simulation/Agenda.js"
import type { Chance } from "../simulation/Chance.js"

/** When virtual time begins: not a round number, and later than the genesis of test networks. */
const BEGINNING_MS = 1_750_000_000_123
/** What one look at a clock takes: whoever waits for a clock to move must not wait forever. */
const LOOK_MS = 0.001

/** What shares a fate: the events of one process, with all its threads. */
export class Machine {
  readonly name: string
  readonly time: Time
  /** How far its wall clock is ahead. */
  aheadMs = 0
  /** How much later its threads answer. */
  lateMs = 0
  #isPaused = false
  #isDead = false
  #held: Array<() => void> = []
  readonly #ends = new Set<() => void>()

  constructor(name: string, time: Time) {
    this.name = name
    this.time = time
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Runs this as the machine: whatever it starts belongs to it. */
  run<A>(act: () => A): A {
    return this.time.as(this, act)
  }

  /** An event of the machine. */
  after(delayMs: number, act: () => void): void {
    this.time.after(delayMs, () => {
      if (this.#isDead) return
      if (this.#isPaused) this.#held.push(act)
      else this.run(act)
    })
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    for (const act of this.#held.splice(0)) this.after(0, act)
  }

  /** What the system does for a process that is gone. Returns how to forget it. */
  onDeath(act: () => void): () => void {
    this.#ends.add(act)
    return () => this.#ends.delete(act)
  }

  /** Nothing of it happens any more. */
  die(): void {
    this.#isDead = true
    this.#held = []
    for (const act of this.#ends) act()
    this.#ends.clear()
  }
}

/** What `setTimeout` returns. */
class Timer {
  readonly #machine: Machine
  readonly #act: () => void
  readonly #delayMs: number
  readonly #everyMs: number | null
  #run = 0

  constructor(machine: Machine, act: () => void, delayMs: number, isRepeated: boolean) {
    this.#machine = machine
    this.#act = act
    // As in Node.js: at least a millisecond, and one for what is no delay.
    this.#delayMs = delayMs >= 1 && delayMs < 2 ** 31 ? delayMs : 1
    this.#everyMs = isRepeated ? this.#delayMs : null
    this.refresh()
  }

  refresh(): this {
    const run = ++this.#run
    this.#machine.after(this.#delayMs, () => {
      if (run !== this.#run) return
      if (this.#everyMs !== null) this.refresh()
      this.#act()
    })
    return this
  }

  close(): this {
    this.#run++
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

const require = createRequire(import.meta.url)
const realImmediate = setImmediate

type Callback = (error: unknown, result?: unknown) => void

/** Calls of `node:fs` with a callback that `src/` and its libraries make. */
const CALLS = [
  ...["access", "appendFile", "chmod", "close", "copyFile", "fsync", "fdatasync", "ftruncate", "link", "lstat"],
  ...["mkdir", "mkdtemp", "open", "readdir", "readFile", "readlink", "realpath", "rename", "rm", "rmdir", "stat"],
  ...["statfs", "symlink", "truncate", "unlink", "utimes", "write", "writeFile", "read"],
]

export class Time {
  readonly #agenda = new Agenda(0)
  #now = 0
  readonly #current = new AsyncLocalStorage<Machine>()
  /** For all that is no node: clients, faults and the network itself. */
  readonly outside = new Machine("outside", this)
  readonly #chance: Chance

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** Milliseconds since the beginning. */
  readonly now = (): number => {
    this.#now = Math.max(this.#now, this.#agenda.now) + LOOK_MS
    return this.#now
  }

  after(delayMs: number, act: () => void): void {
    this.#agenda.at(Math.max(this.#now, this.#agenda.now) + Math.max(0, delayMs), act)
  }

  get here(): Machine {
    return this.#current.getStore() ?? this.outside
  }

  as<A>(machine: Machine, act: () => A): A {
    return this.#current.run(machine, act)
  }

  /** Goes on from event to event until this is over. */
  async until<A>(promise: Promise<A>): Promise<A> {
    let isOver = false
    const end = (): void => {
      isOver = true
    }
    promise.then(end, end)
    for (;;) {
      // What an event has begun without a timer is done before the next event.
      await new Promise((resolve) => realImmediate(resolve))
      if (isOver) return promise
      if (!this.#agenda.step()) throw new Error("nothing is going to happen any more")
    }
  }

  /** Replaces time, chance and the file system's threads for everything that is loaded from now on. */
  install(): void {
    this.#installTimers()
    this.#installClocks()
    this.#installFiles()
    this.#installChance()
    syncBuiltinESMExports()
  }

  #installTimers(): void {
    const start =
      (isRepeated: boolean) =>
      (act: (...all: Array<unknown>) => void, ms?: number, ...all: Array<unknown>) =>
        new Timer(this.here, () => act(...all), Number(ms), isRepeated)
    const stop = (timer: unknown): void => {
      if (timer instanceof Timer) timer.close()
    }
    const immediate = (act: (...all: Array<unknown>) => void, ...all: Array<unknown>) => {
      const timer = { isOver: false, ref: () => timer, unref: () => timer, hasRef: () => true }
      this.here.after(0, () => {
        if (!timer.isOver) act(...all)
      })
      return timer
    }
    const stopImmediate = (timer?: { isOver?: boolean }): void => {
      if (timer !== undefined) timer.isOver = true
    }
    const timers = {
      ...{ setTimeout: start(false), setInterval: start(true), setImmediate: immediate },
      ...{ clearTimeout: stop, clearInterval: stop, clearImmediate: stopImmediate },
    }
    const wait = (ms?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
      new Promise((resolve, reject) => {
        const give = (): void => reject(signal?.reason)
        if (signal?.aborted === true) return give()
        const timer = timers.setTimeout(() => {
          signal?.removeEventListener("abort", give)
          resolve(value)
        }, ms)
        signal?.addEventListener("abort", () => stop(timer))
        signal?.addEventListener("abort", give)
      })
    Object.assign(globalThis, timers)
    Object.assign(require("node:timers"), timers)
    Object.assign(require("node:timers/promises"), {
      setTimeout: wait,
      setImmediate: (value: unknown) => new Promise((resolve) => immediate(() => resolve(value))),
    })
    AbortSignal.timeout = (ms) => {
      const controller = new AbortController()
      timers.setTimeout(() => controller.abort(new DOMException("too late", "TimeoutError")), ms)
      return controller.signal
    }
  }

  #installClocks(): void {
    const wall = (): number => Math.floor(BEGINNING_MS + this.now() + this.here.aheadMs)
    Object.defineProperty(performance, "timeOrigin", { get: () => BEGINNING_MS })
    performance.now = this.now
    process.hrtime.bigint = () => BigInt(Math.round(this.now() * 1_000_000))
    Date.now = wall
  }

  /** The calls return at once, and their callbacks are events like any other. */
  #installFiles(): void {
    const files = require("node:fs")
    for (const name of CALLS) {
      const atOnce = files[`${name}Sync`]
      const call = (...all: Array<unknown>): void => {
        const callback = all.at(-1) as Callback
        let answer: Parameters<Callback>
        try {
          answer = [null, atOnce(...all.slice(0, -1))]
        } catch (error) {
          answer = [error]
        }
        this.here.after(0, () => callback(...answer))
      }
      files[name] = call
      files.promises[name] = (...all: Array<unknown>) =>
        new Promise((resolve, reject) => {
          call(...all, (error: unknown, result: unknown) => (error === null ? resolve(result) : reject(error)))
        })
    }
  }

  #installChance(): void {
    Math.random = () => this.#chance.fraction()
    const draw = <A extends ArrayBufferView>(into: A): A => {
      const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength)
      for (let i = 0; i < bytes.length; i++) bytes[i] = this.#chance.below(256)
      return into
    }
    Object.assign(globalThis.crypto, { getRandomValues: draw })
    Object.assign(require("node:crypto"), {
      randomBytes: (length: number) => draw(Buffer.alloc(length)),
      randomFillSync: draw,
    })
  }
}
