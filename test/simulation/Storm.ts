/** Draws faults one after the other, each with its end, until the storm is over. */
import type { Write } from "../../src/replica/output/Write.js"
import type { Agenda } from "./Agenda.js"
import type { Chance } from "./Chance.js"
import { BACKED_UP, type BackedUp, CRASHES, type Crash } from "./Disk.js"
import * as Network from "./Network.js"

/** A run makes about ten thousand writes. */
const WRITES_PER_CRASH = 5_000

/** Per cent of the runs with lost disks that also lose some at the ends of epochs. */
const DEADLY_CLOSES = 50

/** The kinds of faults. */
export const FAULTS = [
  "network",
  "partitions",
  "crashes",
  "backups",
  "copies",
  "newcomers",
  "joins",
  "byzantine",
  "slow",
  "skew",
  "aimed",
  "conspiracy",
  "wipes",
  "clocks",
  "losses",
  "pauses",
] as const

export type FaultName = (typeof FAULTS)[number]

export const isFaultName = (name: string): name is FaultName => FAULTS.some((fault) => fault === name)

/** How a storm acts on the machines, which are numbers. */
export interface Levers {
  readonly machines: () => ReadonlyArray<number>
  readonly up: () => ReadonlyArray<number>
  readonly nameOf: (machine: number) => string
  /** The leader of a round soon to come, if it has a machine: the most harmful one to hit. */
  readonly nextLeader: () => number | undefined
  readonly cut: (from: ReadonlyArray<number>, to: ReadonlyArray<number>) => void
  readonly mend: (from: ReadonlyArray<number>, to: ReadonlyArray<number>) => void
  readonly conditions: (conditions: Network.Conditions) => void
  readonly crash: (machine: number, crash: Crash) => void
  readonly start: (machine: number) => void
  /** Machines whose disk can be set back, and that can have a double. */
  readonly unreliable: () => ReadonlyArray<number>
  readonly backUp: (machine: number) => void
  /** Restores this part of a crashed machine's disk from its backup, if it has one. */
  readonly restore: (machine: number, what: BackedUp) => void
  /** Empties the disk of a crashed machine, except for its key. */
  readonly wipe: (machine: number) => void
  readonly copy: (machine: number) => void
  /** Other members that can go down so that the rest needs this one for a quorum. */
  readonly spare: (machine: number, chance: Chance) => ReadonlyArray<number>
  readonly pause: (machine: number) => void
  readonly resume: (machine: number, wasSuspended: boolean) => void
  /**
   * Starts a copy of a stopped machine's disk elsewhere, without some of its pending writes; `undefined` if its key is
   * on a second machine already.
   */
  readonly standIn: (machine: number, chance: Chance) => number | undefined
  readonly retire: (machine: number) => void
  readonly stakeNewcomer: () => void
  readonly killNewcomer: () => void
  /** Kills all recent newcomers at once. */
  readonly killNewcomers: () => void
  readonly join: () => void
  readonly slow: (machine: number, factor: number) => void
  /** Loses this percentage of the vertices of leaders and their voters, drawn for each recipient. */
  readonly aim: (percent: number) => void
  readonly skew: (machine: number, byMs: number) => void
  /** Machines whose wall clock can be wrong by any amount. */
  readonly mistimed: () => ReadonlyArray<number>
  readonly tell: (event: string) => void
}

/** The shortest pause that a process notices: see `Pauses`. */
const NOTICED_MS = 2_001

/** Longer than the delay of a message. */
const STANDING_IN_ENDS_MS = 300

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export class Storm {
  readonly #agenda: Agenda
  readonly #chance: Chance
  readonly #levers: Levers
  readonly #faults: ReadonlyArray<FaultName>
  /** The mean time between faults, drawn once a run so that some runs are almost calm. */
  readonly #everyMs: number
  /** Draws for each single write. */
  readonly #writes: Chance
  /** For disks lost at closes. A stream of its own keeps the rest of the run unchanged. */
  readonly #closes: Chance
  readonly #areClosesDeadly: boolean
  /** For pauses between two steps of a machine. A stream of its own keeps the rest of the run unchanged. */
  readonly #pauses: Chance
  /** Machine → what happens to it as soon as it has signed a vertex. */
  readonly #atVertex = new Map<number, () => void>()
  #isOver = false
  /** The latest epoch that began to close. */
  #closing = 0
  /** Faults to undo, at their time or when the storm ends. */
  readonly #pending = new Set<() => void>()

  constructor(agenda: Agenda, chance: Chance, faults: ReadonlyArray<FaultName>, levers: Levers) {
    this.#agenda = agenda
    this.#chance = chance
    this.#writes = chance.stream("writes")
    this.#closes = chance.stream("closes")
    this.#pauses = chance.stream("pauses")
    this.#levers = levers
    // Adversaries are there from the start.
    this.#faults = faults.filter((fault) => fault !== "byzantine" && fault !== "conspiracy")
    this.#areClosesDeadly = faults.includes("wipes") && this.#closes.percent(DEADLY_CLOSES)
    this.#everyMs = chance.pick([250, 500, 1_000, 2_000])
  }

  get isOver(): boolean {
    return this.#isOver
  }

  begin(): void {
    if (this.#faults.length > 0) this.#next()
  }

  #next(): void {
    this.#agenda.after(this.#chance.between(1, 2 * this.#everyMs), () => {
      if (this.#isOver) return
      this.#strike(this.#chance.pick(this.#faults))
      this.#next()
    })
  }

  /** Ends all faults at once. */
  end(): void {
    this.#isOver = true
    for (const undo of [...this.#pending]) undo()
    this.#levers.conditions(Network.calm)
  }

  #later(delayMs: number, undo: () => void): void {
    const once = (): void => {
      if (this.#pending.delete(once)) undo()
    }
    this.#pending.add(once)
    this.#agenda.after(delayMs, once)
  }

  #strike(fault: FaultName): void {
    switch (fault) {
      case "network":
        this.#weather()
        return
      case "partitions":
        this.#partition()
        return
      case "crashes":
        this.#crash()
        return
      case "backups":
        this.#setBack()
        return
      case "copies":
        this.#double()
        return
      case "newcomers":
        if (this.#chance.percent(60)) this.#levers.stakeNewcomer()
        else if (this.#chance.percent(70)) this.#levers.killNewcomer()
        else this.#levers.killNewcomers()
        return
      case "joins":
        this.#levers.join()
        return
      case "slow":
        this.#slow()
        return
      case "skew":
        this.#skew()
        return
      case "aimed":
        this.#aim()
        return
      case "wipes":
        this.#wipe(this.#chance)
        return
      case "clocks":
        this.#setClock()
        return
      case "losses":
        this.#lose()
        return
      case "pauses":
        this.#pause()
        return
      case "byzantine":
      case "conspiracy":
        return
    }
  }

  #weather(): void {
    const chance = this.#chance
    const conditions: Network.Conditions = {
      minDelayMs: chance.pick([1, 10, 40, 100]),
      maxDelayMs: chance.pick([100, 500, 3_000]),
      loss: chance.pick([0, 2, 10, 30]),
      duplication: chance.pick([0, 0, 10, 40]),
    }
    const { minDelayMs, maxDelayMs, loss, duplication } = conditions
    this.#levers.tell(`network: ${minDelayMs} to ${maxDelayMs} ms, ${loss} % lost, ${duplication} % twice`)
    this.#levers.conditions(conditions)
  }

  #partition(): void {
    const chance = this.#chance
    const machines = this.#levers.machines()
    const leader = this.#levers.nextLeader()
    const shuffled = chance.shuffle(machines)
    const size = chance.percent(50) ? 1 : chance.between(1, machines.length - 1)
    const group = leader !== undefined && chance.percent(30) ? [leader] : shuffled.slice(0, size)
    const rest = machines.filter((machine) => !group.includes(machine))
    const isOneWay = chance.percent(40)
    const forMs = Math.round(chance.heavyTail(200, 6_000))
    const names = group.map((machine) => this.#levers.nameOf(machine)).join(" ")
    this.#levers.tell(`cut off for ${forMs} ms${isOneWay ? ", one way" : ""}: ${names}`)
    this.#levers.cut(group, rest)
    if (!isOneWay) this.#levers.cut(rest, group)
    this.#later(forMs, () => {
      this.#levers.mend(group, rest)
      if (!isOneWay) this.#levers.mend(rest, group)
      this.#levers.tell(`mended: ${names}`)
    })
  }

  #crash(): void {
    const chance = this.#chance
    const up = this.#levers.up()
    if (up.length === 0) return
    // In one case of twenty all machines crash.
    const count = chance.percent(5) ? up.length : chance.percent(20) ? Math.min(up.length, 3) : 1
    // Either all crash in the same way, or each in its own.
    const crash = chance.percent(50) ? chance.pick(CRASHES) : null
    for (const machine of chance.shuffle(up).slice(0, count)) this.#takeDown(machine, crash ?? chance.pick(CRASHES))
  }

  /** A machine is about to close this epoch. */
  closing(epoch: number): void {
    if (this.#isOver || epoch <= this.#closing) return
    this.#closing = epoch
    if (this.#faults.includes("crashes")) this.#cutOffClose()
    if (!this.#areClosesDeadly) return
    this.#agenda.after(this.#closes.between(1, 600), () => this.#isOver || this.#wipe(this.#closes))
  }

  /** Interrupts some closes at a random point, on one machine, half of them or all. */
  #cutOffClose(): void {
    const chance = this.#chance
    for (let cuts = chance.pick([0, 0, 1, 3]); cuts > 0; cuts--) {
      this.#agenda.after(chance.between(1, 400), () => {
        const up = this.#levers.up()
        if (this.#isOver || up.length === 0) return
        const count = chance.pick([1, Math.ceil(up.length / 2), up.length])
        const crash = chance.pick(CRASHES)
        for (const machine of chance.shuffle(up).slice(0, count)) this.#takeDown(machine, crash)
      })
    }
  }

  /** A machine has replaced its state with a downloaded one. Some lose power soon after. */
  joined(machine: number): void {
    if (this.#isOver || !this.#faults.includes("crashes") || !this.#writes.percent(30)) return
    this.#agenda.after(this.#writes.between(1, 500), () => {
      if (!this.#isOver && this.#levers.up().includes(machine)) this.#takeDown(machine, "worst power cut")
    })
  }

  /** A machine has just begun a write. Occasionally it crashes at this moment. */
  wrote(machine: number, write: Write): void {
    const atVertex = write._tag === "OwnVertex" ? this.#atVertex.get(machine) : undefined
    if (atVertex !== undefined) {
      this.#atVertex.delete(machine)
      this.#agenda.after(0, atVertex)
    }
    if (this.#isOver || !this.#faults.includes("crashes") || this.#writes.between(1, WRITES_PER_CRASH) > 1) return
    this.#takeDown(machine, this.#writes.pick(CRASHES))
  }

  #takeDown(machine: number, crash: Crash, meanwhile: () => void = () => undefined, chance = this.#chance): void {
    // In-flight messages are gone before the machine is back.
    this.#takeDownFor(machine, crash, Math.round(chance.heavyTail(crash === "killed" ? 30 : 100, 8_000)), meanwhile)
  }

  #takeDownFor(machine: number, crash: Crash, forMs: number, meanwhile: () => void = () => undefined): void {
    this.#levers.tell(`${crash} for ${forMs} ms: ${this.#levers.nameOf(machine)}`)
    this.#levers.crash(machine, crash)
    meanwhile()
    this.#later(forMs, () => {
      this.#levers.tell(`starts: ${this.#levers.nameOf(machine)}`)
      this.#levers.start(machine)
    })
  }

  #setBack(): void {
    const chance = this.#chance
    const unreliable = this.#levers.unreliable()
    if (unreliable.length === 0) return
    const machine = chance.pick(unreliable)
    if (chance.percent(50)) this.#levers.backUp(machine)
    else if (this.#levers.up().includes(machine)) {
      const what = chance.pick(BACKED_UP)
      this.#takeDown(machine, "power cut", () => this.#levers.restore(machine, what))
    }
  }

  #wipe(chance: Chance): void {
    const machine = this.#anyUp(chance)
    if (machine !== undefined) this.#takeDown(machine, "power cut", () => this.#levers.wipe(machine), chance)
  }

  /**
   * The last vertices of a machine reach only one other machine. That one goes down, with as many more as make the rest
   * wait for the first, which then loses its disk.
   */
  #lose(): void {
    const chance = this.#chance
    const machine = this.#anyUp(chance)
    const spare = machine === undefined ? [] : this.#levers.spare(machine, chance)
    const [witness] = spare
    if (machine === undefined || witness === undefined) return
    const others = this.#levers.machines().filter((each) => each !== machine && each !== witness)
    this.#levers.tell(`only ${this.#levers.nameOf(witness)} hears ${this.#levers.nameOf(machine)}`)
    this.#levers.cut([machine], others)
    this.#later(chance.between(50, 800), () => {
      this.#levers.mend([machine], others)
      if (this.#isOver) return
      const forMs = chance.between(2_000, 30_000)
      for (const each of spare) this.#takeDownFor(each, "killed", forMs)
      if (this.#levers.up().includes(machine)) {
        this.#takeDown(machine, "power cut", () => this.#levers.wipe(machine))
      }
    })
  }

  /**
   * Stops a process, sometimes between signing a vertex and writing it, sometimes while the others wait for it. A copy
   * may stand in for it, and ends before it resumes.
   */
  #pause(): void {
    const chance = this.#chance
    const machine = this.#anyUp(chance)
    if (machine === undefined) return
    const forMs = Math.round(chance.heavyTail(200, 8_000))
    const name = this.#levers.nameOf(machine)
    const isAwaited = chance.percent(50)
    const spare = isAwaited ? this.#levers.spare(machine, chance) : []
    const hasStandIn = chance.percent(50)
    const stop = (): void => {
      if (this.#isOver || !this.#levers.up().includes(machine)) return
      this.#levers.tell(`stopped for ${forMs} ms: ${name}`)
      for (const each of spare) this.#takeDownFor(each, "killed", forMs)
      this.#levers.pause(machine)
      const standIn = hasStandIn ? this.#levers.standIn(machine, this.#pauses) : undefined
      const noticedAt = this.#agenda.now + NOTICED_MS
      this.#later(forMs, () => this.#goOn(machine, standIn, noticedAt))
    }
    if (this.#pauses.percent(50)) stop()
    else this.#atVertex.set(machine, stop)
  }

  #goOn(machine: number, standIn: number | undefined, noticedAt: number): void {
    if (standIn !== undefined) this.#levers.retire(standIn)
    // The last messages of the stand-in are still under way. An operator does not copy, start and end a node within a
    // pause too short to notice.
    const afterMs = Math.max(STANDING_IN_ENDS_MS, standIn === undefined ? 0 : noticedAt - this.#agenda.now)
    this.#agenda.after(afterMs, () => {
      this.#levers.tell(`goes on: ${this.#levers.nameOf(machine)}`)
      this.#levers.resume(machine, this.#chance.percent(50))
    })
  }

  #anyUp(chance: Chance): number | undefined {
    const up = this.#levers.up()
    const able = this.#levers.unreliable().filter((machine) => up.includes(machine))
    return able.length === 0 ? undefined : chance.pick(able)
  }

  /** Sets a clock wrong once or twice, in some cases with a restart in between. */
  #setClock(): void {
    const chance = this.#chance
    const mistimed = this.#levers.mistimed()
    if (mistimed.length === 0) return
    const machine = chance.pick(mistimed)
    const forMs = chance.between(500, 10_000)
    const wrong = (): void => {
      const byMs = chance.pick([-DAY_MS, -HOUR_MS, -60_000, 60_000, HOUR_MS, DAY_MS])
      this.#levers.tell(`clock set ${byMs} ms off: ${this.#levers.nameOf(machine)}`)
      this.#levers.skew(machine, byMs)
    }
    wrong()
    if (chance.percent(40) && this.#levers.up().includes(machine)) this.#takeDown(machine, "killed")
    if (chance.percent(50)) this.#agenda.after(Math.floor(forMs / 2), () => this.#isOver || wrong())
    this.#later(forMs, () => this.#levers.skew(machine, 0))
  }

  #double(): void {
    const unreliable = this.#levers.unreliable()
    if (unreliable.length > 0) this.#levers.copy(this.#chance.pick(unreliable))
  }

  #slow(): void {
    const chance = this.#chance
    const machine = chance.pick(this.#levers.machines())
    const factor = chance.pick([3, 10, 30])
    this.#levers.tell(`${factor} times slower: ${this.#levers.nameOf(machine)}`)
    this.#levers.slow(machine, factor)
    this.#later(chance.between(500, 6_000), () => this.#levers.slow(machine, 1))
  }

  /** Brings votes and certificates close to the thresholds, where the rules differ. */
  #aim(): void {
    const chance = this.#chance
    const percent = chance.pick([20, 40, 60])
    const forMs = chance.between(500, 5_000)
    this.#levers.tell(`${percent} % of what leaders and their voters say is lost, for ${forMs} ms`)
    this.#levers.aim(percent)
    this.#later(forMs, () => this.#levers.aim(0))
  }

  #skew(): void {
    const chance = this.#chance
    const machine = chance.pick(this.#levers.machines())
    const byMs = chance.pick([-5_000, -900, -300, 300, 900, 3_000])
    this.#levers.tell(`clock ${byMs} ms off: ${this.#levers.nameOf(machine)}`)
    this.#levers.skew(machine, byMs)
    this.#later(chance.between(500, 10_000), () => this.#levers.skew(machine, 0))
  }
}
