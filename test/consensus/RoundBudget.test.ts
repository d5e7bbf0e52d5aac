import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import * as RoundBudget from "../../src/consensus/RoundBudget.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"

const COST = 100
const BURST = 3 * COST
const price = { costMs: COST, burstMs: BURST }
const at = (round: number | null, paidUntil: number): RoundBudget.RoundBudget => ({
  round: round === null ? null : Natural.round(round),
  paidUntil,
})
const pay = (budget: RoundBudget.RoundBudget, round: number, now: number) =>
  RoundBudget.pay(budget, Natural.round(round), now, price)

describe("a budget of rounds", () => {
  it("begins without credit, and owes a round", () => {
    expect(RoundBudget.begin(1_000, price)).toEqual(at(null, 1_100))
    expect(pay(at(null, 0), 7, 1_000)).toEqual(at(7, 1_100))
  })

  it("charges an interval for a round", () => {
    expect(pay(at(7, 900), 8, 1_000)).toEqual(at(8, 1_000))
    expect(pay(at(7, 1_000), 8, 1_000)).toEqual(at(8, 1_100))
  })

  it("saves no more than the burst", () => {
    expect(pay(at(7, 0), 8, 1_000)).toEqual(at(8, 1_000 - BURST + COST))
  })

  it("charges credit for skipped rounds, and no more than there is", () => {
    expect(pay(at(7, 0), 9, 1_000)).toEqual(at(9, 1_000 - BURST + 2 * COST))
    expect(pay(at(7, 0), 500, 1_000)).toEqual(at(500, 1_100))
    expect(pay(at(7, 1_080), 500, 1_000)).toEqual(at(500, 1_100))
  })

  it("charges one interval for a round that another epoch had already", () => {
    expect(pay(at(7, 900), 6, 1_000)).toEqual(at(6, 1_000))
  })

  it("charges nothing where rounds are free", () => {
    const free = { costMs: 0, burstMs: 0 }
    for (let round = 1; round < 100; round++) {
      expect(RoundBudget.pay(at(round, 1_000), Natural.round(round + 1), 1_000, free).paidUntil).toBe(1_000)
    }
  })
})

/**
 * Members that hurry as much as possible. Dishonest members enter every round before the honest. A member continues
 * when all but a third are in its round, jumps when they are in a higher one, and follows a third.
 */
class Members {
  readonly #budgets: Array<RoundBudget.RoundBudget>
  readonly #rounds: Array<number>
  readonly #dishonest: number
  /** For each round, when the first honest member made it or a higher one. */
  readonly begun = new Map<number, number>()

  constructor(honest: number, dishonest: number) {
    this.#budgets = Array.from({ length: honest }, () => RoundBudget.begin(0, price))
    this.#rounds = this.#budgets.map(() => 0)
    this.#dishonest = dishonest
  }

  #reachedBy(weight: number): number {
    const least = weight - this.#dishonest
    return [...this.#rounds].sort((a, b) => b - a)[least - 1] ?? 0
  }

  get #total(): number {
    return this.#budgets.length + this.#dishonest
  }

  look(member: number, now: number): void {
    const [own = 0, budget] = [this.#rounds[member], this.#budgets[member]]
    if (budget === undefined) return
    const quorum = this.#reachedBy(Math.floor((2 * this.#total) / 3) + 1)
    const third = this.#reachedBy(Math.ceil(this.#total / 3))
    const mayGoOn = quorum >= own && (third > own || budget.paidUntil <= now)
    const round = quorum > own ? quorum : own + 1
    if (quorum <= own && !mayGoOn) return
    this.#rounds[member] = round
    this.#budgets[member] = pay(budget, round, now)
    for (let each = round; each > 0 && !this.begun.has(each); each--) this.begun.set(each, now)
  }

  restart(member: number, now: number): void {
    if (this.#budgets[member] !== undefined) this.#budgets[member] = RoundBudget.begin(now, price)
  }
}

/** The most by which any n rounds took less than n intervals. */
const mostEarly = (begun: ReadonlyMap<number, number>): number => {
  let [latest, most] = [Number.NEGATIVE_INFINITY, 0]
  for (const [round, moment] of [...begun].sort(([a], [b]) => a - b)) {
    const scheduled = moment - round * COST
    most = Math.max(most, latest - scheduled)
    latest = Math.max(latest, scheduled)
  }
  return most
}

describe("the budgets of a committee", () => {
  /** For a while some members check their clocks repeatedly; the others are away and save credit. */
  const phase = FastCheck.record({
    awake: FastCheck.array(FastCheck.nat(6), { minLength: 3, maxLength: 4 }),
    looks: FastCheck.integer({ min: 1, max: 6 }),
    waitMs: FastCheck.constantFrom(0, 0, 0, 1, 30, 100, 500),
    restarts: FastCheck.nat(20),
  })
  const lives = FastCheck.record({
    dishonest: FastCheck.nat(2),
    phases: FastCheck.array(phase, { minLength: 20, maxLength: 40 }),
  })

  it("let n rounds take at least n intervals minus the burst, even if members hurry, restart or are away", () => {
    FastCheck.assert(
      FastCheck.property(lives, ({ dishonest, phases }) => {
        const members = new Members(7 - dishonest, dishonest)
        let now = 10_000
        for (let member = 0; member < 7; member++) members.look(member, now)
        now += 10_000
        for (const { awake, looks, waitMs, restarts } of phases) {
          now += waitMs
          if (restarts < 7) members.restart(restarts, now)
          for (let look = 0; look < looks; look++) for (const member of awake) members.look(member, now)
        }
        expect(mostEarly(members.begun)).toBeLessThanOrEqual(BURST)
      }),
      { numRuns: 1_000 },
    )
  })

  it("let members that have saved for long make exactly the burst at once", () => {
    const members = new Members(5, 2)
    const everybody = (now: number) => {
      for (let member = 0; member < 5; member++) members.look(member, now)
    }
    everybody(COST)
    for (let now = 10_000; now < 11_000; now += 5) everybody(now)
    expect(mostEarly(members.begun)).toBe(BURST)
  })

  it("let members that hurry make exactly as many rounds as were paid for", () => {
    const members = new Members(5, 2)
    for (let now = 0; now <= 10_000; now += 5) for (let member = 0; member < 5; member++) members.look(member, now)
    expect([...members.begun].at(-1)?.[0]).toBe(100)
  })
})
