/** Limits on transactions that cost every node a check and pay nothing: per account, per peer, and overall. */
import { Either, FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { OWN_BURST, SHARED_BURST, SHARED_EVERY_MS } from "../../../src/ledger/pending/PeerBudget.js"
import { LIFETIME_MS, PendingTransactions } from "../../../src/ledger/pending/PendingTransactions.js"
import { ACCOUNTS, FORGIVEN_AFTER_MS, UNPAID_PER_ACCOUNT, Unpaid } from "../../../src/ledger/pending/Unpaid.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import type { Transaction } from "../../../src/protocol/transaction/Transaction.js"
import type { Person } from "../builders.js"
import { applied, at, cheapest, everybody, executionOf, idsOf, rich, round, submit, told } from "./Pool.js"
import { addressOf, exempt, paying } from "./World.js"

/**
 * Raises the fee of one nonce by the least amount until that is refused; returns the number of raises and the refusal.
 */
const raise = (pool: PendingTransactions, name: string, nonce: number, now = at, most = 1_000) => {
  let last = paying(name, nonce, pool.of(addressOf(name)).find((each) => each.nonce === nonce)?.fee ?? 1_000)
  for (let count = 0; count < most; count++) {
    last = paying(name, nonce, cheapest(last))
    const answer = pool.submit(last, now, round)
    if (Either.isLeft(answer)) return { count, refusal: answer.left }
  }
  return { count: most, refusal: null }
}

describe("an account that does not pay", () => {
  it("replaces its transactions sixteen times, with any nonces, and then no more", () => {
    const pool = new PendingTransactions(rich("ann"))
    submit(pool, ...Array.from({ length: 63 }, (_, i) => paying("ann", i + 1, 1_000)))
    expect(raise(pool, "ann", 1, at, 10)).toEqual({ count: 10, refusal: null })
    expect(raise(pool, "ann", 2)).toEqual({
      count: UNPAID_PER_ACCOUNT - 10,
      refusal: { _tag: "AccountThrottled", next: 0, waitMs: FORGIVEN_AFTER_MS },
    })
    for (let nonce = 3; nonce < 64; nonce++) expect(raise(pool, "ann", nonce).count).toBe(0)
    expect([pool.size, pool.turnover.departed.replaced]).toEqual([63, UNPAID_PER_ACCOUNT])
  })

  it("is recognised before its signature is checked", () => {
    const pool = new PendingTransactions(rich("ann"))
    submit(pool, paying("ann", 1, 1_000))
    raise(pool, "ann", 1)
    const refusal = { _tag: "AccountThrottled", next: 0, waitMs: FORGIVEN_AFTER_MS } as const
    expect(pool.judge(paying("ann", 1, 1_000_000))).toEqual(Either.left(refusal))
  })

  it("can still have its next transaction pending, and affects no other account", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    submit(pool, paying("ann", 1, 1_000))
    raise(pool, "ann", 1)
    expect(submit(pool, paying("ann", 2, 1_000), paying("ann", 0, 1_000), paying("ann", 0, 90_000))).toEqual([
      "AccountThrottled",
      "new",
      "AccountThrottled",
    ])
    expect(submit(pool, paying("ben", 3, 1_000), paying("ben", 3, 2_000))).toEqual(["new", "new"])
  })

  it("is forgiven one replacement a minute", () => {
    const pool = new PendingTransactions(rich("ann"))
    submit(pool, paying("ann", 1, 1_000))
    raise(pool, "ann", 1)
    const minutes = (count: number) => Natural.timestamp(at + count * FORGIVEN_AFTER_MS)
    expect(raise(pool, "ann", 1, Natural.timestamp(minutes(1) - 1)).count).toBe(0)
    expect(raise(pool, "ann", 1, minutes(1)).count).toBe(1)
    expect(raise(pool, "ann", 1, minutes(4)).count).toBe(3)
    expect(raise(pool, "ann", 1, minutes(40)).count).toBe(UNPAID_PER_ACCOUNT)
  })

  it("is forgiven one for each fee that it pays, and none for free transactions", () => {
    const world = rich("ann")
    const pool = new PendingTransactions(world)
    const [first, second, free] = [paying("ann", 0, 1_000), paying("ann", 1, 1_000), exempt("ann", 2)]
    submit(pool, first, second, free, paying("ann", 9, 1_000))
    expect(raise(pool, "ann", 9).count).toBe(UNPAID_PER_ACCOUNT)
    world.set(addressOf("ann"), 3, 1_000_000_000)
    pool.evictExecuted(executionOf([applied, applied, applied]), [[first, second, free]])
    expect(raise(pool, "ann", 9).count).toBe(2)
  })

  it("is charged for transactions that its last payment invalidates as for replacements, but for no longer", () => {
    const world = rich("ann")
    const pool = new PendingTransactions(world)
    const all = Array.from({ length: 64 }, (_, nonce) => paying("ann", nonce, 1_000))
    submit(pool, ...all)
    // Somebody else's pool had another first transaction, which takes everything.
    const drain = paying("ann", 0, 1_000)
    world.set(addressOf("ann"), 1, 5_000)
    pool.evictExecuted(executionOf([applied]), [[drain]])
    // 1 001 sats each.
    expect(pool.size).toBe(4)
    expect(pool.turnover.departed.invalid).toBe(59)
    world.set(addressOf("ann"), 1, 1_000_000_000)
    expect(submit(pool, paying("ann", 5, 1_000))).toEqual(["AccountThrottled"])
    const later = Natural.timestamp(at + (60 - UNPAID_PER_ACCOUNT) * FORGIVEN_AFTER_MS)
    expect(told(pool.submit(paying("ann", 5, 1_000), later, round))).toBe("new")
  })

  it("is not charged for evictions or for the end of an hour", () => {
    const world = rich("ann", "ben", "cleo")
    const pool = new PendingTransactions(world, 2)
    submit(pool, paying("ben", 0, 100_000))
    for (let i = 0; i < 2 * UNPAID_PER_ACCOUNT; i++) {
      expect(submit(pool, paying("ann", 0, 1_000 + i))).toEqual(["new"])
      expect(submit(pool, paying("cleo", 0, 10_000))).toEqual(["new"])
      world.set(addressOf("cleo"), i + 1, 1_000_000_000)
      pool.evictExecuted(executionOf([applied]), [[paying("cleo", i, 10_000)]])
      world.set(addressOf("cleo"), 0, 1_000_000_000)
    }
    expect(pool.turnover.departed.evicted).toBe(2 * UNPAID_PER_ACCOUNT)
    expect([pool.remembered.unpaid, submit(pool, paying("ann", 0, 9_000))]).toEqual([0, ["new"]])
    const other = new PendingTransactions(rich("ann"))
    submit(other, ...Array.from({ length: 63 }, (_, i) => paying("ann", i + 1, 1_000)))
    other.expire(Natural.timestamp(at + LIFETIME_MS))
    expect([other.size, other.remembered.unpaid]).toEqual([0, 0])
  })

  it("is forgotten when ten thousand others have done the same since", () => {
    const unpaid = new Unpaid()
    for (let i = 0; i < UNPAID_PER_ACCOUNT; i++) unpaid.charge(addressOf("ann"), at)
    expect(unpaid.waitMs(addressOf("ann"), at)).toBe(FORGIVEN_AFTER_MS)
    const others = Array.from({ length: ACCOUNTS }, (_, i) => i.toString(16).padStart(40, "0") as Person["address"])
    for (const other of others.slice(1)) unpaid.charge(other, at)
    expect([unpaid.size, unpaid.waitMs(addressOf("ann"), at)]).toEqual([ACCOUNTS, FORGIVEN_AFTER_MS])
    for (const other of others) unpaid.charge(other, at)
    expect([unpaid.size, unpaid.waitMs(addressOf("ann"), at)]).toEqual([ACCOUNTS, 0])
  })
})

describe("unpaid transactions from peers", () => {
  const crowd = Array.from({ length: SHARED_BURST + OWN_BURST + 1 }, (_, i) => `crowd ${i}`)
  const told = (pool: PendingTransactions, peer: string, transaction: Transaction, now = at) =>
    Either.match(pool.submit(transaction, now, round, peer), {
      onLeft: (refusal) => ("of" in refusal ? `${refusal._tag} ${refusal.of}` : refusal._tag),
      onRight: (answer) => answer,
    })
  const [first = "", second = "", third = ""] = crowd

  it("after a missing nonce have a joint limit, and nothing else does", () => {
    const pool = new PendingTransactions(rich(...crowd))
    for (const [i, name] of crowd.entries()) {
      const answer = i < SHARED_BURST + OWN_BURST ? "new" : "MempoolFull peers"
      expect(told(pool, "eve", paying(name, 1, 1_000))).toBe(answer)
    }
    expect(pool.judge(paying(second, 2, 1_000), "eve")).toMatchObject({ _tag: "Left", left: { of: "peers" } })
    // Executable transactions have no such limit, and replacements another one.
    expect(told(pool, "eve", paying(first, 1, 9_000))).toBe("MempoolFull peers")
    expect(told(pool, "eve", paying(first, 0, 1_000))).toBe("new")
    expect(told(pool, "eve", paying(first, 2, 1_000))).toBe("new")
    expect(told(pool, "eve", paying(first, 2, 9_000))).toBe("new")
    // Clients have limits of their own.
    expect(submit(pool, paying(second, 2, 1_000), paying(second, 2, 2_000))).toEqual(["new", "new"])
    expect(told(pool, "eve", paying(second, 5, 1_000), Natural.timestamp(at + SHARED_EVERY_MS))).toBe("new")
    expect(told(pool, "eve", paying(second, 6, 1_000), Natural.timestamp(at + SHARED_EVERY_MS))).not.toBe("new")
  })

  // Hundreds had their signatures checked before the first of them was charged.
  it("are charged once, before their signatures are checked", () => {
    const pool = new PendingTransactions(rich(...crowd))
    const early = crowd.map((name) => paying(name, 1, 1_000))
    pool.expire(at)
    const reserved = early.filter((transaction) => Either.isRight(pool.reserve(transaction, "eve")))
    expect(reserved).toEqual(early.slice(0, SHARED_BURST + OWN_BURST))
    expect(early.map((transaction) => told(pool, "eve", transaction))).toEqual([
      ...reserved.map(() => "new"),
      "MempoolFull peers",
    ])
    expect(told(pool, "eve", paying(first, 2, 1_000), Natural.timestamp(at + SHARED_EVERY_MS))).toBe("new")
    // Executable transactions are free.
    for (const name of crowd) expect(pool.reserve(paying(name, 0, 1_000), "eve")).toEqual(Either.right("new"))
  })

  // Members that relayed many payments of one account used up the budget.
  it("are not those that follow each other, before and after their signatures are checked", () => {
    const pool = new PendingTransactions(rich(...crowd, "ann"))
    pool.expire(at)
    // Eve has used up the shared budget and her own.
    for (const name of crowd) pool.reserve(paying(name, 1, 1_000), "eve")
    const payments = Array.from({ length: 60 }, (_, nonce) => paying("ann", nonce, 1_000))
    const [checked, later] = [payments.slice(0, 30), payments.slice(30)]
    for (const payment of checked) expect(pool.reserve(payment, "eve")).toEqual(Either.right("new"))
    for (const payment of later.slice(0, 10)) expect(pool.reserve(payment, "eve")).toEqual(Either.right("new"))
    for (const payment of checked) expect(told(pool, "eve", payment)).toBe("new")
    for (const payment of later) expect(pool.reserve(payment, "eve")).toEqual(Either.right("new"))
    for (const payment of later) expect(told(pool, "eve", payment)).toBe("new")
  })

  it("are those whose predecessors did not arrive within seconds, or left a gap", () => {
    const pool = new PendingTransactions(rich(...crowd, "ann", "ben"))
    pool.expire(at)
    for (const name of crowd) pool.reserve(paying(name, 1, 1_000), "eve")
    expect(pool.reserve(paying("ann", 0, 1_000), "eve")).toEqual(Either.right("new"))
    expect(Either.isLeft(pool.reserve(paying("ann", 2, 1_000), "eve"))).toBe(true)
    expect(pool.reserve(paying("ann", 1, 1_000), "eve")).toEqual(Either.right("new"))
    // The pool itself does not count on those being checked.
    expect(told(pool, "eve", paying("ann", 1, 1_000))).toBe("MempoolFull peers")
    pool.expire(Natural.timestamp(at + 5_001))
    pool.reserve(paying("ben", 1, 1_000), "eve")
    for (const name of crowd) pool.reserve(paying(name, 2, 1_000), "eve")
    expect(Either.isLeft(pool.reserve(paying("ann", 1, 1_000), "eve"))).toBe(true)
  })

  it("as replacements have a joint limit", () => {
    const pool = new PendingTransactions(rich(...crowd))
    submit(pool, ...crowd.map((name) => paying(name, 0, 1_000)))
    for (const [i, name] of crowd.entries()) {
      const answer = i < SHARED_BURST + OWN_BURST ? "new" : "MempoolFull peers"
      expect(told(pool, "eve", paying(name, 0, 2_000))).toBe(answer)
    }
    expect(told(pool, "eve", paying(third, 2, 1_000))).toBe("new")
  })

  // One peer used up the shared limit at no cost, and no honest fee could be raised any more.
  it("keep no other peer from raising a fee or bringing nonces in any order", () => {
    const pool = new PendingTransactions(rich(...crowd, "ann"))
    submit(pool, ...crowd.map((name) => paying(name, 0, 1_000)))
    for (const name of crowd) {
      told(pool, "eve", paying(name, 0, 2_000))
      told(pool, "eve", paying(name, 9, 2_000))
    }
    expect(told(pool, "ben", paying("ann", 1, 1_000))).toBe("new")
    expect(told(pool, "ben", paying("ann", 0, 1_000))).toBe("new")
    expect(told(pool, "ben", paying("ann", 0, 2_000))).toBe("new")
  })

  it("are unlimited where the account has paid as many fees before", () => {
    const world = rich(...crowd)
    const pool = new PendingTransactions(world)
    const payments = crowd.map((name) => paying(name, 0, 1_000))
    submit(pool, ...payments)
    for (const name of crowd.slice(1)) told(pool, "eve", paying(name, 0, 2_000))
    world.set(addressOf(first), 1, 1_000_000_000)
    pool.evictExecuted(executionOf([applied]), [payments.slice(0, 1)])
    const spent = crowd.slice(-1)[0] ?? ""
    told(pool, "eve", paying(spent, 0, 8_000))
    expect(told(pool, "eve", paying(spent, 0, 9_000))).toBe("MempoolFull peers")
    expect(told(pool, "eve", paying(first, 1, 1_000))).toBe("new")
    expect(told(pool, "eve", paying(first, 1, 2_000))).toBe("new")
    expect(told(pool, "eve", paying(first, 1, 3_000))).toBe("MempoolFull peers")
  })

  // Fees that rise by a sat from account to account would evict each other for nothing while the pool is full.
  it("take few places in a full pool, and keep no other peer from it", () => {
    const others = Array.from({ length: 2_000 }, (_, i) => `other ${i}`)
    const world = rich("ann", "ben", ...others)
    const pool = new PendingTransactions(world, 2)
    submit(pool, paying("ann", 0, 1_000), paying("ben", 0, 100_000))
    const answers = others.map((name, i) => told(pool, "eve", paying(name, 0, 1_001 + i)))
    expect(answers.filter((answer) => answer === "new")).toHaveLength(SHARED_BURST + OWN_BURST)
    expect(told(pool, "cleo", paying("ann", 0, 50_000))).toBe("new")
  })
})

const unpaidAction = FastCheck.record({
  tag: FastCheck.constantFrom("raise" as const, "raise" as const, "raise" as const, "wait" as const, "pay" as const),
  name: FastCheck.constantFrom("ann", "ben"),
  nonce: FastCheck.nat(5),
  ms: FastCheck.nat(2 * FORGIVEN_AFTER_MS),
})

describe("any submissions", () => {
  it("let an account replace sixteen times, once more per minute, and once more per fee it pays", () => {
    let most = 0
    FastCheck.assert(
      FastCheck.property(FastCheck.array(unpaidAction, { minLength: 40, maxLength: 120 }), (actions) => {
        const world = rich("ann", "ben")
        const pool = new PendingTransactions(world)
        const [replaced, paid] = [new Map<string, number>(), new Map<string, number>()]
        const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
        let now: number = at
        for (const { tag, name, nonce, ms } of actions) {
          const { nonce: next } = world.account(addressOf(name))
          const pending = pool.of(addressOf(name))
          if (tag === "wait") now += ms
          else if (tag === "raise") {
            const before = pending.find((each) => each.nonce === next + nonce)
            const raised = paying(name, next + nonce, before === undefined ? 1_000 : cheapest(before))
            const answer = told(pool.submit(raised, Natural.timestamp(now), round, "peer"))
            if (answer === "new" && before !== undefined) add(replaced, name)
          } else if (pending[0]?.nonce === next) {
            world.set(addressOf(name), next + 1, 1_000_000_000)
            pool.evictExecuted(executionOf([applied]), [pending.slice(0, 1)])
            add(paid, name)
          }
          const minutes = Math.floor((now - at) / FORGIVEN_AFTER_MS)
          const count = replaced.get(name) ?? 0
          expect(count).toBeLessThanOrEqual(UNPAID_PER_ACCOUNT + minutes + (paid.get(name) ?? 0))
          most = Math.max(most, count)
        }
      }),
      { numRuns: 200 },
    )
    expect(most).toBeGreaterThan(UNPAID_PER_ACCOUNT)
  })

  it("of honest clients are executed in any order, beside any number that never pay", () => {
    const honest = ["ann", "ben", "cleo"].flatMap((name) =>
      Array.from({ length: 20 }, (_, nonce) => paying(name, nonce, 1_000 + nonce)),
    )
    const freeloaders = Array.from({ length: 20 }, (_, i) => `free ${i}`)
    const unpaid = freeloaders.flatMap((name) =>
      [1, 2, 3, 9].flatMap((nonce) => Array.from({ length: 6 }, (_, i) => paying(name, nonce, 1_000 * 2 ** i))),
    )
    const everything = [...honest, ...unpaid]
    const orders = FastCheck.shuffledSubarray(everything, { minLength: everything.length })
    FastCheck.assert(
      FastCheck.property(orders, (all) => {
        const world = rich("ann", "ben", "cleo", ...freeloaders)
        const pool = new PendingTransactions(world)
        for (const each of all) {
          const isHonest = honest.includes(each)
          const answer = told(pool.submit(each, at, round, isHonest ? null : "peer"))
          if (isHonest) expect(answer).toBe("new")
        }
        const chosen = pool.choose(everybody)
        expect(new Set(idsOf(chosen))).toEqual(new Set(idsOf(honest)))
        for (const each of honest) expect(pool.isTold(each)).toBe(true)
        expect([...pool.all].filter(({ transaction }) => pool.isTold(transaction))).toHaveLength(honest.length)
      }),
      { numRuns: 50 },
    )
  })
})
