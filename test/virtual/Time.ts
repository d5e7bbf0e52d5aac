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
const CORES = 4

interface Event {
  readonly act: () => void
  readonly isTimer: boolean
}

/** What shares a fate: the events of one process, with all its threads. One happens after the other. */
export class Machine {
  readonly name: string
  readonly time: Time
  /** How far its wall clock is ahead. */
  aheadMs = 0
  /** How much later its threads answer. */
  lateMs = 0
  /** How long each event takes. */
  busyMs = 0
  #isPaused = false
  #isDead = false
  #busyUntil = 0
  #isGoingOn = false
  #waiting: Array<Event> = []
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

  after(delayMs: number, act: () => void, isTimer = false): void {
    this.at(this.time.moment + delayMs, act, isTimer)
  }

  at(moment: number, act: () => void, isTimer = false): void {
    this.time.at(moment, () => {
      if (this.#isDead) return
      this.#waiting.push({ act, isTimer })
      this.#goOn()
    })
  }

  #goOn(): void {
    if (this.#isGoingOn || this.#isPaused || this.#isDead) return
    if (this.time.moment >= this.#busyUntil) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.run(next.act)
      this.#busyUntil = this.time.moment + this.busyMs
    }
    if (this.#waiting.length === 0) return
    this.#isGoingOn = true
    this.time.at(this.#busyUntil, () => {
      this.#isGoingOn = false
      this.#goOn()
    })
  }

  pause(): void {
    this.#isPaused = true
  }

  /** In Node.js all timers that are due may come before what has arrived. */
  resume(areTimersFirst: boolean): void {
    this.#isPaused = false
    if (areTimersFirst) this.#waiting.sort((a, b) => Number(b.isTimer) - Number(a.isTimer))
    this.#goOn()
  }

  /** What the system does for a process that is gone. Returns how to forget it. */
  onDeath(act: () => void): () => void {
    this.#ends.add(act)
    return () => this.#ends.delete(act)
  }

  /** Nothing of it happens any more. */
  die(): void {
    this.#isDead = true
    this.#waiting = []
    for (const act of this.#ends) act()
    this.#ends.clear()
  }
}

/** What `setTimeout` returns. */
class Timer {
  readonly #machine: Machine
  readonly #act: () => void
  readonly #delayMs: number
  readonly #isRepeated: boolean
  #run = 0

  constructor(machine: Machine, act: () => void, delayMs: number, isRepeated: boolean) {
    this.#machine = machine
    this.#act = act
    // As in Node.js: at least a millisecond, and one for what is no delay.
    this.#delayMs = delayMs >= 1 && delayMs < 2 ** 31 ? delayMs : 1
    this.#isRepeated = isRepeated
    this.refresh()
  }

  refresh(): this {
    const run = ++this.#run
    const fire = (): void => {
      if (run !== this.#run) return
      if (this.#isRepeated) this.refresh()
      this.#act()
    }
    this.#machine.after(this.#delayMs, fire, true)
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
  get moment(): number {
    return Math.max(this.#now, this.#agenda.now)
  }

  /** The same for who looks at a clock, which takes a while. */
  readonly now = (): number => {
    this.#now = this.moment + LOOK_MS
    return this.#now
  }

  at(moment: number, act: () => void): void {
    this.#agenda.at(Math.max(moment, this.moment), act)
  }

  get here(): Machine {
    return this.#current.getStore() ?? this.outside
  }

  as<A>(machine: Machine, act: () => A): A {
    return this.#current.run(machine, act)
  }

  /** Goes on from event to event until this is over, at most until then. */
  async until<A>(promise: Promise<A>, limitMs: number): Promise<A> {
    let isOver = false
    const end = (): void => {
      isOver = true
    }
    promise.then(end, end)
    for (;;) {
      // What an event has begun without a timer is done before the next event.
      await new Promise((resolve) => realImmediate(resolve))
      if (isOver) return promise
      if (!this.#agenda.step() || this.moment > limitMs) throw new Error(`not over at ${this.moment} ms`)
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
        if (signal?.aborted === true) return reject(signal.reason)
        const give = (): void => {
          stop(timer)
          reject(signal?.reason)
        }
        const timer = timers.setTimeout(() => {
          signal?.removeEventListener("abort", give)
          resolve(value)
        }, ms)
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
    globalThis.Date = class extends Date {
      constructor(...words: ReadonlyArray<unknown>) {
        super(...((words.length === 0 ? [wall()] : words) as [number]))
      }
      static override readonly now = wall
    } as DateConstructor
    // The program has more threads on more cores.
    require("node:os").availableParallelism = () => CORES
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
