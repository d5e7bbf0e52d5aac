import { Either, FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { ACCOUNTS, BACK_AFTER_MS, Credit, MOST_CREDIT, STOCK } from "../../../src/ledger/pending/Credit.js"
import { PendingTransactions } from "../../../src/ledger/pending/PendingTransactions.js"
import type { Execution, Outcome } from "../../../src/ledger/rules/Execution.js"
import type { Address } from "../../../src/protocol/identity/Address.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"
import type { Transaction } from "../../../src/protocol/transaction/Transaction.js"
import { Chain, person } from "../builders.js"
import { addressOf, exempt, paying, World } from "./World.js"

const WINDOW = 64
const start = 1_000_000
const round = Natural.round(10)
const applied: Outcome = { _tag: "Applied", fee: Sats.ZERO, toTreasury: Sats.ZERO, taken: Sats.ZERO, proposalId: null }
const empty = new Chain({}).commit([{ by: person("val") }])

/** A pool with its ledger and peers. */
class Scene {
  readonly world = new World()
  readonly pool: PendingTransactions
  readonly everTold = new Set<Transaction>()
  readonly executed = new Set<Transaction>()
  #pending: Array<Transaction> = []
  fees = 0
  now = start

  constructor(stock = STOCK) {
    this.pool = new PendingTransactions(this.world, undefined, stock)
  }

  fund(name: string, balance = 100_000_000): void {
    this.world.set(addressOf(name), this.world.account(addressOf(name)).nonce, balance)
  }

  /** Whether the pool accepts it. */
  bring(transaction: Transaction, origin: string | null = "peer"): boolean {
    const answer = this.pool.submit(transaction, Natural.timestamp(this.now), round, origin)
    if (Either.isLeft(answer)) return false
    this.#pending.push(transaction)
    this.look()
    return true
  }

  /** Announces everything that can be announced. */
  look(): void {
    this.#pending = this.#pending.filter((each) => !this.executed.has(each) && this.pool.get(each.id) !== undefined)
    for (const each of this.#pending) if (this.pool.isTold(each)) this.everTold.add(each)
  }

  /** A commit executes the account's next transaction, pending here or not. */
  execute(name: string, transaction: Transaction, balance = 100_000_000): void {
    this.world.set(addressOf(name), transaction.nonce + 1, balance)
    this.executed.add(transaction)
    if (transaction.fee > 0) this.fees++
    const [vertex] = empty.vertices
    if (vertex === undefined) throw new Error("one vertex expected")
    const execution: Execution = { ...empty, vertices: [{ ...vertex, transactions: [applied] }] }
    this.pool.evictExecuted(execution, [[transaction]])
    this.look()
  }

  /** Announced transactions that nobody will pay for. */
  get worthless(): number {
    return [...this.everTold].filter((each) => !this.executed.has(each) && this.pool.get(each.id) === undefined).length
  }
}

/** A full window of pending transactions, then one payment to somebody else that takes everything. */
const drain = (scene: Scene, name: string, by = paying(name, 0, 1_000)): void => {
  scene.fund(name)
  for (let nonce = 0; nonce < WINDOW; nonce++) scene.bring(paying(name, nonce, 1_000))
  scene.execute(name, by, 0)
}

describe("accounts emptied by one payment", () => {
  it("invalidate at most as many transactions as fees were paid, the stock, and what refills with time", () => {
    const scene = new Scene()
    for (let i = 0; i < 300; i++) {
      scene.now += 1_000
      drain(scene, `account ${i}`)
    }
    const back = (scene.now - start) / BACK_AFTER_MS
    expect(scene.worthless).toBeGreaterThan(STOCK)
    expect(scene.worthless).toBeLessThanOrEqual(scene.fees + STOCK + back)
  })

  it("can have one announced when the stock is empty, and then one per fee", () => {
    const scene = new Scene()
    for (let i = 0; i < 100; i++) drain(scene, `account ${i}`)
    expect(scene.worthless).toBe(STOCK + 100)
    for (let i = 0; i < 100; i++) drain(scene, `later ${i}`)
    expect([scene.worthless, scene.fees]).toEqual([STOCK + 200, 200])
  })

  it("find the stock refilled after a while", () => {
    const scene = new Scene()
    for (let i = 0; i < 100; i++) drain(scene, `account ${i}`)
    scene.fund("ann")
    expect(scene.bring(paying("ann", 0, 1_000))).toBe(true)
    expect(scene.bring(paying("ann", 1, 1_000))).toBe(false)
    scene.now += BACK_AFTER_MS
    expect(scene.bring(paying("ann", 1, 1_000)), "one has come back").toBe(true)
    expect(scene.bring(paying("ann", 2, 1_000))).toBe(false)
    scene.now += STOCK * BACK_AFTER_MS
    for (let nonce = 2; nonce < WINDOW; nonce++) expect(scene.bring(paying("ann", nonce, 1_000))).toBe(true)
  })

  it("gain nothing from free transactions, which pay for nothing", () => {
    const scene = new Scene()
    for (let i = 0; i < 40; i++) drain(scene, `account ${i}`, exempt(`account ${i}`, 0))
    scene.fund("ann")
    expect([scene.bring(paying("ann", 0, 1_000)), scene.bring(paying("ann", 1, 1_000))]).toEqual([true, false])
    expect(scene.worthless).toBeLessThanOrEqual(STOCK + 40)
    scene.execute("ann", exempt("ann", 0))
    expect([scene.bring(paying("ann", 1, 1_000)), scene.bring(paying("ann", 2, 1_000))]).toEqual([true, false])
    scene.execute("ann", paying("ann", 1, 1_000))
    expect([scene.bring(paying("ann", 2, 1_000)), scene.bring(paying("ann", 3, 1_000))]).toEqual([true, false])
  })
})

describe("an honest account while the stock is empty", () => {
  const besieged = (): Scene => {
    const scene = new Scene()
    for (let i = 0; i < 100; i++) drain(scene, `account ${i}`)
    scene.fund("ann")
    return scene
  }

  it("has a full window pending at its own node, which announces twice as many after each commit", () => {
    const scene = besieged()
    const all = Array.from({ length: WINDOW }, (_, nonce) => paying("ann", nonce, 1_000))
    for (const each of all) expect(scene.bring(each, null)).toBe(true)
    scene.pool.takeReached()
    const waves: Array<number> = []
    let done = 0
    while (done < WINDOW) {
      const wave = all.slice(done).filter((each) => scene.pool.isTold(each))
      waves.push(wave.length)
      for (const each of wave) scene.execute("ann", each)
      done += wave.length
    }
    expect(waves).toEqual([1, 2, 4, 8, 16, 32, 1])
    // Each is announced once, as soon as it may be. The first one was at once.
    expect(scene.pool.takeReached().map(({ nonce }) => Number(nonce))).toEqual(all.slice(1).map((_, i) => i + 1))
  })

  it("that has paid before is announced as usual", () => {
    const scene = new Scene()
    scene.fund("ann")
    for (let nonce = 0; nonce < MOST_CREDIT; nonce++) {
      const payment = paying("ann", nonce, 1_000)
      expect(scene.bring(payment)).toBe(true)
      scene.execute("ann", payment)
    }
    for (let i = 0; i < 100; i++) drain(scene, `account ${i}`)
    for (let nonce = 0; nonce < WINDOW; nonce++) {
      expect(scene.bring(paying("ann", MOST_CREDIT + nonce, 1_000))).toBe(true)
    }
  })

  it("is announced after a gap closes, like without a gap", () => {
    const scene = besieged()
    const all = Array.from({ length: WINDOW }, (_, nonce) => paying("ann", nonce, 1_000))
    for (const each of all.toReversed()) scene.bring(each, null)
    expect(scene.pool.takeReached()).toEqual([])
    expect(all.filter((each) => scene.pool.isTold(each))).toEqual(all.slice(0, 1))
  })
})

const action = FastCheck.record({
  tag: FastCheck.constantFrom("bring", "bring", "bring", "fill", "fill", "execute", "drain", "raise", "wait" as const),
  account: FastCheck.nat(5),
  nonce: FastCheck.nat(WINDOW - 1),
  isFree: FastCheck.boolean(),
  ms: FastCheck.nat(500),
})

describe("the announcements of any accounts", () => {
  it("become invalid at most for the nonces used, the stock, and what refills with time", () => {
    let most = 0
    FastCheck.assert(
      FastCheck.property(FastCheck.array(action, { minLength: 50, maxLength: 150, size: "max" }), (actions) => {
        const scene = new Scene(20)
        let raised = 0
        for (const { tag, account, nonce, isFree, ms } of actions) {
          const name = `account ${account}`
          const { nonce: next } = scene.world.account(addressOf(name))
          const pending = scene.pool.of(addressOf(name))
          if (tag === "wait") scene.now += ms
          else if (tag === "execute") {
            const [first] = pending
            if (first?.nonce === next) scene.execute(name, first)
          } else if (tag === "drain") {
            scene.execute(name, isFree ? exempt(name, next) : paying(name, next, 1_000), 0)
          } else {
            scene.fund(name)
            const nonces = tag === "fill" ? Array.from({ length: WINDOW }, (_, i) => next + i) : [next + nonce]
            for (const each of nonces) {
              const before = pending.find((other) => other.nonce === each)
              if (before !== undefined && tag !== "raise") continue
              const isTaken = scene.bring(paying(name, each, before === undefined ? 1_000 : before.fee * 2))
              if (isTaken && before !== undefined) raised++
            }
          }
        }
        const used = scene.executed.size
        const back = (scene.now - start) / BACK_AFTER_MS
        // Raises have a limit of their own.
        expect(scene.worthless - raised).toBeLessThanOrEqual(used + 20 + back)
        most = Math.max(most, scene.worthless - raised - back)
      }),
      { numRuns: 100 },
    )
    expect(most).toBeGreaterThan(20)
  })
})

describe("credit", () => {
  it("is one per fee, up to a window, and never negative", () => {
    const credit = new Credit(STOCK)
    const ann = addressOf("ann")
    for (let i = 0; i < 2 * MOST_CREDIT; i++) credit.paid(ann)
    expect(credit.of(ann)).toBe(MOST_CREDIT)
    credit.lost(ann, 3, Natural.timestamp(start))
    expect([credit.of(ann), credit.left(Natural.timestamp(start))]).toEqual([MOST_CREDIT - 3, STOCK])
    credit.lost(ann, MOST_CREDIT, Natural.timestamp(start))
    expect([credit.of(ann), credit.size, credit.left(Natural.timestamp(start))]).toEqual([0, 0, STOCK - 3])
    expect(credit.left(Natural.timestamp(start + BACK_AFTER_MS))).toBe(STOCK - 2)
  })

  it("is forgotten when ten thousand others have paid since", () => {
    const credit = new Credit(STOCK)
    credit.paid(addressOf("ann"))
    const others = Array.from({ length: ACCOUNTS }, (_, i) => i.toString(16).padStart(40, "0") as Address)
    for (const other of others) credit.paid(other)
    expect([credit.size, credit.of(addressOf("ann"))]).toEqual([ACCOUNTS, 0])
  })
})
