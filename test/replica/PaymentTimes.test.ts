/**
 * The latency of payments in virtual time, in which messages take ten milliseconds and everything else is immediate.
 */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { BURST_ROUNDS } from "../../src/consensus/RoundBudget.js"
import { addressOf, Cluster, ROUND_MS, transfer } from "./Cluster.js"

const four = { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 }
/** Until all credit is saved; there is none at a start. */
const SAVING_MS = 6_000

/** Payments, each submitted at the next machine, this many milliseconds after the previous one. */
class Paid {
  readonly cluster: Cluster
  #taken: Array<number> = []
  #nonce = 0

  constructor(validators: { readonly [name: string]: number } = four) {
    this.cluster = new Cluster({ validators, epochRounds: 240, isMetered: true })
    this.cluster.start()
    this.cluster.run(SAVING_MS)
  }

  #rounds(): number {
    return this.cluster.machines[0]?.replica.core.epoch.dag.highestRound ?? 0
  }

  /** Runs this long, and returns the sorted latencies and the rounds per second. */
  run(forMs: number, apartMs: number | null) {
    const { cluster } = this
    const before = this.#rounds()
    const waiting: Array<{ readonly nonce: number; readonly at: number; readonly since: number }> = []
    this.#taken = []
    const start = cluster.now
    let due = cluster.now + 37
    while (cluster.now < start + forMs) {
      if (apartMs !== null && cluster.now >= due) {
        const at = this.#nonce % cluster.machines.length
        const taken = cluster.machines[at]?.replica.submit(transfer("alice", this.#nonce, "bob", 1), cluster.now)
        expect(taken !== undefined && Either.isRight(taken)).toBe(true)
        waiting.push({ nonce: this.#nonce++, at, since: cluster.now })
        due += apartMs
      }
      cluster.run(1)
      for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
        const { nonce } = cluster.machines[first.at]?.replica.read.account(addressOf("alice")) ?? { nonce: 0 }
        if (nonce <= first.nonce) break
        this.#taken.push(cluster.now - first.since)
        waiting.shift()
      }
    }
    this.#taken.sort((a, b) => a - b)
    const quantile = (part: number): number => this.#taken[Math.floor(this.#taken.length * part)] ?? Number.NaN
    return {
      p50: quantile(0.5),
      p99: quantile(0.99),
      most: this.#taken.at(-1) ?? Number.NaN,
      roundsPerSecond: ((this.#rounds() - before) * 1_000) / forMs,
    }
  }
}

/** Besides one round per interval, only the saved ones come. */
const mostRounds = (seconds: number): number => 10 + (BURST_ROUNDS + 1) / seconds

describe("payments with rounds of 100 ms on average", () => {
  it("one every 300 ms on four validators takes the time of a few messages, however long that continues", () => {
    const { p50, most, roundsPerSecond } = new Paid().run(30_000, 300)
    expect([p50 <= 50, most <= 120]).toEqual([true, true])
    expect(roundsPerSecond).toBeLessThanOrEqual(mostRounds(30))
  })

  it("in a constant stream on four validators take less than two and a half rounds", () => {
    const { p50, roundsPerSecond } = new Paid().run(15_000, 20)
    expect(p50).toBeLessThan(2.5 * ROUND_MS)
    expect(roundsPerSecond).toBeLessThanOrEqual(mostRounds(15))
  })

  it("leave rounds half as frequent without payments", () => {
    expect(new Paid().run(10_000, null).roundsPerSecond).toBe(5)
  })

  it("on a solo node wait for nothing", () => {
    expect(new Paid({ ann: 10_000 }).run(10_000, 300).most).toBeLessThanOrEqual(5)
  })
})
