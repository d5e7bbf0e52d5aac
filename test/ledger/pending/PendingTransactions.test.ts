import { Either, FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { FRESH_ROUNDS, OVERDUE_ROUNDS, PATIENCE_ROUNDS } from "../../../src/ledger/pending/Choice.js"
import { OWN_BURST, SHARED_BURST, SHARED_EVERY_MS } from "../../../src/ledger/pending/PeerBudget.js"
import { EXEMPT_PER_SENDER, LIFETIME_MS, PendingTransactions } from "../../../src/ledger/pending/PendingTransactions.js"
import { ACCOUNTS, FORGIVEN_AFTER_MS, UNPAID_PER_ACCOUNT, Unpaid } from "../../../src/ledger/pending/Unpaid.js"
import type { Execution, Outcome } from "../../../src/ledger/rules/Execution.js"
import * as Limits from "../../../src/protocol/numbers/Limits.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"
import type { Transaction } from "../../../src/protocol/transaction/Transaction.js"
import { Chain, coins, type Person, person, signedBy, singleKey, transaction } from "../builders.js"
import { isExempt, NaivePool } from "./NaivePool.js"
import { addressOf, exempt, paying, World } from "./World.js"

const at = Natural.timestamp(1_000_000)
const round = Natural.round(10)
const everybody = {
  round,
  maxBytes: Limits.VERTEX_BYTES,
  freshBytes: Limits.VERTEX_BYTES,
  isAssigned: () => true,
  hasTurn: () => true,
}

const rich = (...names: ReadonlyArray<string>): World => {
  const world = new World()
  for (const name of names) world.set(addressOf(name), 0, 1_000_000_000)
  return world
}

const poolOf = ({ ledger }: Chain): PendingTransactions =>
  new PendingTransactions({
    admission: (transaction, reserved) => ledger.admission(transaction, reserved),
    hasEffect: (transaction) => ledger.hasEffect(transaction),
    spending: (transaction) => ledger.spending(transaction),
    account: (address) => ledger.read.account(address),
  })

const told = (answer: ReturnType<PendingTransactions["submit"]>): string =>
  Either.match(answer, { onLeft: ({ _tag }) => _tag, onRight: (taken) => taken })

const submit = (pool: PendingTransactions, ...transactions: ReadonlyArray<Transaction>): ReadonlyArray<string> =>
  transactions.map((transaction) => told(pool.submit(transaction, at, round)))

const idsOf = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<string> => transactions.map(({ id }) => id)

/** An execution in which this became of these. */
const executionOf = (outcomes: ReadonlyArray<Outcome>): Execution => {
  const { vertices, ...execution } = new Chain({}).commit([{ by: person("val") }])
  const [vertex] = vertices
  if (vertex === undefined) throw new Error("one vertex expected")
  return { ...execution, vertices: [{ ...vertex, transactions: outcomes }] }
}

const applied: Outcome = { _tag: "Applied", fee: Sats.ZERO, toTreasury: Sats.ZERO, taken: Sats.ZERO, proposalId: null }
const nonceTooHigh: Outcome = {
  _tag: "NoEffect",
  reason: { _tag: "NonceTooHigh", nonce: Natural.nonce(1), next: Natural.nonce(0) },
}

describe("a pending transaction", () => {
  it("given twice is the same answer, not two transactions", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 0, 1_000)
    expect(submit(pool, one, one)).toEqual(["new", "known"])
    expect(pool.size).toBe(1)
  })

  it("is replaced by one that pays ten per cent and one sat more, and by no other", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [first, short, enough] = [1_005, 1_105, 1_106].map((fee) => paying("ann", 0, fee))
    if (first === undefined || short === undefined || enough === undefined) throw new Error("three expected")
    expect(submit(pool, first)).toEqual(["new"])
    expect(pool.submit(short, at, round)).toEqual(Either.left({ _tag: "NoncePending", nonce: 0, minFee: 1_106 }))
    expect(submit(pool, enough)).toEqual(["new"])
    expect(idsOf(pool.of(addressOf("ann")))).toEqual([enough.id])
    expect(pool.get(first.id)).toBeUndefined()
    expect(pool.turnover).toMatchObject({ admitted: 2, departed: { replaced: 1, evicted: 0 } })
  })

  it("that costs nothing is replaced by one that pays a sat", () => {
    const pool = new PendingTransactions(rich("ann"))
    expect(submit(pool, exempt("ann", 0), exempt("ann", 0), exempt("ann", 0, 1))).toEqual([
      "new",
      "NoncePending",
      "new",
    ])
  })

  it("may spend only what its sender's other pending ones leave, whatever their nonces", () => {
    const world = new World()
    world.set(addressOf("ann"), 0, 3_000)
    const pool = new PendingTransactions(world)
    expect(submit(pool, paying("ann", 5, 1_400), paying("ann", 0, 1_400), paying("ann", 1, 1_400))).toEqual([
      "new",
      "new",
      "InsufficientBalance",
    ])
    expect(submit(pool, paying("ann", 5, 1_599), paying("ann", 5, 1_598))).toEqual(["InsufficientBalance", "new"])
  })

  it("lives an hour", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    submit(pool, paying("ann", 0, 1_000))
    pool.submit(paying("ben", 0, 1_000), Natural.timestamp(at + 1), round)
    expect(pool.nextExpiry).toBe(at + LIFETIME_MS)
    pool.expire(Natural.timestamp(at + LIFETIME_MS - 1))
    expect(pool.size).toBe(2)
    pool.expire(Natural.timestamp(at + LIFETIME_MS))
    expect(idsOf([...pool.all].map(({ transaction }) => transaction))).toEqual(idsOf(pool.of(addressOf("ben"))))
    expect(pool.size).toBe(1)
  })

  it("tells its sender's next nonce, as far as there is no gap", () => {
    const pool = new PendingTransactions(rich("ann"))
    expect(pool.nextNonce(addressOf("ann"))).toBe(0)
    submit(pool, paying("ann", 0, 1_000), paying("ann", 1, 1_000), paying("ann", 3, 1_000))
    expect(pool.nextNonce(addressOf("ann"))).toBe(2)
  })

  it("is one of at most four fee-exempt ones of its sender", () => {
    const pool = new PendingTransactions(rich("ann"))
    const many = Array.from({ length: EXEMPT_PER_SENDER + 1 }, (_, nonce) => exempt("ann", nonce))
    expect(submit(pool, ...many)).toEqual(["new", "new", "new", "new", "MempoolFull"])
    expect(pool.submit(exempt("ann", 5), at, round)).toEqual(
      Either.left({ _tag: "MempoolFull", limit: EXEMPT_PER_SENDER, of: "sender" }),
    )
    expect(submit(pool, exempt("ann", 0, 5), paying("ann", 4, 1_000))).toEqual(["new", "new"])
  })

  it("that is fee-exempt gives its place to another once it is executed", () => {
    const world = rich("ann")
    const pool = new PendingTransactions(world)
    const four = (from: number) => Array.from({ length: EXEMPT_PER_SENDER }, (_, i) => exempt("ann", from + i))
    const first = four(0)
    submit(pool, ...first, paying("ann", 4, 1_000))
    world.set(addressOf("ann"), 4, 1_000_000_000)
    pool.evictExecuted(executionOf(first.map(() => applied)), [first])
    expect(pool.turnover.departed).toMatchObject({ executed: first.length, invalid: 0 })
    expect(submit(pool, ...four(5), exempt("ann", 9))).toEqual(["new", "new", "new", "new", "MempoolFull"])
  })

  it("that pays and is executed gives no place to a fee-exempt one", () => {
    const world = rich("ann")
    const pool = new PendingTransactions(world)
    const first = paying("ann", 0, 1_000)
    submit(pool, first, ...[1, 2, 3, 4].map((nonce) => exempt("ann", nonce)))
    world.set(addressOf("ann"), 1, 1_000_000_000)
    pool.evictExecuted(executionOf([applied]), [[first]])
    expect(submit(pool, exempt("ann", 5))).toEqual(["MempoolFull"])
  })

  it("is judged before it is submitted, with the same answer", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 0, 1_000)
    expect(pool.judge(one)).toEqual(Either.right("new"))
    submit(pool, one)
    expect(pool.judge(one)).toEqual(Either.right("known"))
    expect(pool.judge(paying("ann", 0, 1_000))).toEqual(Either.left({ _tag: "NoncePending", nonce: 0, minFee: 1_100 }))
  })

  it("is told to peers once, when it arrives, and not after a restart", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const [one, two] = [paying("ann", 0, 1_000), paying("ann", 1, 1_000)]
    const arrived = () => idsOf(pool.takeArrivals().map(({ transaction }) => transaction))
    expect(arrived()).toEqual([])
    submit(pool, one, two, one)
    expect([arrived(), arrived()]).toEqual([[one.id, two.id], []])
    pool.restore([{ transaction: paying("ben", 0, 1_000), receivedAt: at }], round)
    expect(arrived()).toEqual([])
  })

  it("stands in a vertex or does not, and comes back when that vertex never will", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 0, 1_000)
    submit(pool, one)
    expect([pool.isIncluded(one), pool.inclusions]).toEqual([false, 0])
    pool.included([one], round)
    expect([pool.isIncluded(one), pool.inclusions]).toEqual([true, 1])
    pool.expire(Natural.timestamp(at + LIFETIME_MS))
    expect(pool.size).toBe(0)
    pool.excluded([one])
    pool.returned([one], at, round)
    expect([pool.isIncluded(one), pool.inclusions, pool.get(one.id)?.transaction]).toEqual([false, 0, one])
  })
})

const cheapest = (transaction: Transaction): number => transaction.fee + Math.max(1, Math.ceil(transaction.fee / 10))

/** Raises the fee of one nonce by as little as it may, until that is refused; gives how often it was and the refusal. */
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
  it("replaces its transactions sixteen times, whatever their nonces, and then no more", () => {
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

  it("is known before its signature is checked", () => {
    const pool = new PendingTransactions(rich("ann"))
    submit(pool, paying("ann", 1, 1_000))
    raise(pool, "ann", 1)
    const refusal = { _tag: "AccountThrottled", next: 0, waitMs: FORGIVEN_AFTER_MS } as const
    expect(pool.judge(paying("ann", 1, 1_000_000))).toEqual(Either.left(refusal))
  })

  it("may have its next transaction pending all the same, and nobody else is concerned", () => {
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

  it("is forgiven one a minute", () => {
    const pool = new PendingTransactions(rich("ann"))
    submit(pool, paying("ann", 1, 1_000))
    raise(pool, "ann", 1)
    const minutes = (count: number) => Natural.timestamp(at + count * FORGIVEN_AFTER_MS)
    expect(raise(pool, "ann", 1, Natural.timestamp(minutes(1) - 1)).count).toBe(0)
    expect(raise(pool, "ann", 1, minutes(1)).count).toBe(1)
    expect(raise(pool, "ann", 1, minutes(4)).count).toBe(3)
    expect(raise(pool, "ann", 1, minutes(40)).count).toBe(UNPAID_PER_ACCOUNT)
  })

  it("is forgiven one for each fee that it pays, and none for what is free", () => {
    const world = rich("ann")
    const pool = new PendingTransactions(world)
    const [first, second, free] = [paying("ann", 0, 1_000), paying("ann", 1, 1_000), exempt("ann", 2)]
    submit(pool, first, second, free, paying("ann", 9, 1_000))
    expect(raise(pool, "ann", 9).count).toBe(UNPAID_PER_ACCOUNT)
    world.set(addressOf("ann"), 3, 1_000_000_000)
    pool.evictExecuted(executionOf([applied, applied, applied]), [[first, second, free]])
    expect(raise(pool, "ann", 9).count).toBe(2)
  })

  it("has lost what its last payment leaves no money for, which counts as much as replacing it, but for no longer", () => {
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

  it("pays nothing for being evicted, or for the end of an hour", () => {
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

describe("what peers bring and nobody pays for", () => {
  const crowd = Array.from({ length: SHARED_BURST + OWN_BURST + 1 }, (_, i) => `crowd ${i}`)
  const told = (pool: PendingTransactions, peer: string, transaction: Transaction, now = at) =>
    Either.match(pool.submit(transaction, now, round, peer), {
      onLeft: (refusal) => ("of" in refusal ? `${refusal._tag} ${refusal.of}` : refusal._tag),
      onRight: (answer) => answer,
    })
  const [first = "", second = "", third = ""] = crowd

  it("after a missing nonce is limited for all of them together, and nothing else is", () => {
    const pool = new PendingTransactions(rich(...crowd))
    for (const [i, name] of crowd.entries()) {
      const answer = i < SHARED_BURST + OWN_BURST ? "new" : "MempoolFull peers"
      expect(told(pool, "eve", paying(name, 1, 1_000))).toBe(answer)
    }
    expect(pool.judge(paying(second, 2, 1_000), "eve")).toMatchObject({ _tag: "Left", left: { of: "peers" } })
    // What is executable has no such limit, and its replacement another one.
    expect(told(pool, "eve", paying(first, 1, 9_000))).toBe("MempoolFull peers")
    expect(told(pool, "eve", paying(first, 0, 1_000))).toBe("new")
    expect(told(pool, "eve", paying(first, 2, 1_000))).toBe("new")
    expect(told(pool, "eve", paying(first, 2, 9_000))).toBe("new")
    // Clients have limits of their own.
    expect(submit(pool, paying(second, 2, 1_000), paying(second, 2, 2_000))).toEqual(["new", "new"])
    expect(told(pool, "eve", paying(second, 5, 1_000), Natural.timestamp(at + SHARED_EVERY_MS))).toBe("new")
    expect(told(pool, "eve", paying(second, 6, 1_000), Natural.timestamp(at + SHARED_EVERY_MS))).not.toBe("new")
  })

  it("as a replacement is limited for all of them together", () => {
    const pool = new PendingTransactions(rich(...crowd))
    submit(pool, ...crowd.map((name) => paying(name, 0, 1_000)))
    for (const [i, name] of crowd.entries()) {
      const answer = i < SHARED_BURST + OWN_BURST ? "new" : "MempoolFull peers"
      expect(told(pool, "eve", paying(name, 0, 2_000))).toBe(answer)
    }
    expect(told(pool, "eve", paying(third, 2, 1_000))).toBe("new")
  })

  // One peer used up what all of them share, at no cost, and no honest fee was raised any more.
  it("keeps no other peer from raising a fee or bringing nonces in any order", () => {
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

  it("is nothing where the account has paid as many fees before", () => {
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

  // Fees that rise by a sat from account to account would evict each other for nothing for as long as the pool is full.
  it("takes few places in a full pool, and keeps no other peer from it", () => {
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

describe("whatever is submitted", () => {
  it("an account replaces sixteen times, once more for each minute, and once more for each fee it pays", () => {
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

  it("everything that honest clients submit is executed, in any order and beside any number that never pay", () => {
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

describe("a full pool", () => {
  // The signature of each was checked before the pool found out that it had no room for it.
  it("says before a signature is checked that it has no room, in the same words", () => {
    const pool = new PendingTransactions(rich("ann", "ben", "cleo", "dan"), 2)
    submit(pool, paying("ann", 0, 2_000), paying("ben", 0, 3_000))
    for (const newcomer of [paying("cleo", 0, 2_000), paying("cleo", 1, 90_000), paying("ann", 1, 90_000)]) {
      expect(pool.judge(newcomer)).toEqual(Either.left({ _tag: "MempoolFull", limit: 2, of: "pool" }))
    }
    expect(pool.judge(paying("cleo", 0, 2_001))).toEqual(Either.right("new"))
    expect(pool.remembered.unpaid).toBe(0)
  })

  it("gives the place of the cheapest to whoever pays more, and to nobody else", () => {
    const pool = new PendingTransactions(rich("ann", "ben", "cleo", "dan"), 3)
    const cheap = paying("ben", 0, 2_000)
    submit(pool, paying("ann", 0, 3_000), cheap, paying("cleo", 0, 4_000))
    expect(pool.submit(paying("dan", 0, 2_000), at, round)).toEqual(
      Either.left({ _tag: "MempoolFull", limit: 3, of: "pool" }),
    )
    expect(submit(pool, paying("dan", 0, 2_001))).toEqual(["new"])
    expect(pool.turnover).toMatchObject({ admitted: 4, departed: { evicted: 1, executed: 0 } })
    expect(pool.get(cheap.id)).toBeUndefined()
    expect(pool.size).toBe(3)
  })

  it("lets nobody shield a low fee with a high one behind it", () => {
    const pool = new PendingTransactions(rich("ann", "ben"), 3)
    const [low, high] = [paying("ann", 0, 1_000), paying("ann", 1, 9_000)]
    submit(pool, low, high, paying("ben", 0, 2_000))
    expect(submit(pool, paying("ben", 1, 2_000))).toEqual(["new"])
    expect(pool.get(high.id)).toBeUndefined()
    expect(pool.get(low.id)).toBeDefined()
  })

  it("lets go first of what cannot be executed for a missing nonce", () => {
    const pool = new PendingTransactions(rich("ann", "ben", "cleo"), 2)
    const stranded = paying("ann", 7, 90_000)
    submit(pool, stranded, paying("ben", 0, 1_000))
    expect(submit(pool, paying("ben", 5, 90_000))).toEqual(["MempoolFull"])
    expect(submit(pool, paying("cleo", 0, 1_000))).toEqual(["new"])
    expect(pool.get(stranded.id)).toBeUndefined()
  })

  it("keeps a tenth of its places for fee-exempt ones, whatever others pay", () => {
    const names = Array.from({ length: 40 }, (_, i) => `p${i}`)
    const pool = new PendingTransactions(rich(...names), 20)
    submit(pool, ...names.slice(0, 20).map((name) => paying(name, 0, 5_000)))
    expect(submit(pool, exempt("p20", 0), exempt("p21", 0), exempt("p22", 0))).toEqual(["new", "new", "MempoolFull"])
    expect(submit(pool, paying("p23", 0, 9_000), paying("p24", 0, 9_000))).toEqual(["new", "new"])
    const kept = [...pool.all].filter(({ transaction }) => isExempt(transaction))
    expect(kept).toHaveLength(2)
    expect(pool.size).toBe(20)
  })
})

describe("what goes into a vertex", () => {
  it("follows on the finalized nonce without a gap, and never stands in another vertex already", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [zero, one, two, four] = [0, 1, 2, 4].map((nonce) => paying("ann", nonce, 1_000))
    if (!zero || !one || !two || !four) throw new Error("four expected")
    submit(pool, four, two, one, zero)
    expect(idsOf(pool.choose(everybody))).toEqual(idsOf([zero, one, two]))
    pool.included([zero], Natural.round(9))
    expect(idsOf(pool.choose(everybody))).toEqual(idsOf([one, two]))
    pool.excluded([zero])
    // A vertex of the same round may be ordered behind this one.
    pool.included([zero], round)
    expect(pool.choose(everybody)).toEqual([])
    pool.excluded([zero])
    expect(idsOf(pool.choose(everybody))).toEqual(idsOf([zero, one, two]))
  })

  it("does not begin behind a gap, whether the first nonces are missing or stand in other vertices", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const [zero, two] = [paying("ben", 0, 1_000), paying("ben", 2, 1_000)]
    submit(pool, paying("ann", 1, 1_000), zero, two)
    expect(idsOf(pool.choose(everybody))).toEqual([zero.id])
    pool.included([zero], Natural.round(9))
    expect(pool.choose(everybody)).toEqual([])
  })

  it("ends before one that stands in another vertex, until that is overdue", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [zero, one, two] = [0, 1, 2].map((nonce) => paying("ann", nonce, 1_000))
    if (!zero || !one || !two) throw new Error("three expected")
    submit(pool, zero, one, two)
    pool.included([one], Natural.round(9))
    expect(idsOf(pool.choose(everybody))).toEqual([zero.id])
    const later = { ...everybody, round: Natural.round(9 + OVERDUE_ROUNDS) }
    expect(idsOf(pool.choose(later))).toEqual(idsOf([zero, one, two]))
  })

  it("ends before one of another member's senders that has not waited long enough", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [early, late] = [paying("ann", 0, 1_000), paying("ann", 1, 1_000)]
    submit(pool, early)
    pool.submit(late, at, Natural.round(round + 1))
    const wish = (later: number) => ({
      round: Natural.round(round + later),
      maxBytes: Limits.VERTEX_BYTES,
      freshBytes: 0,
      isAssigned: () => false,
      hasTurn: () => true,
    })
    expect(idsOf(pool.choose(wish(PATIENCE_ROUNDS)))).toEqual([early.id])
    expect(idsOf(pool.choose(wish(PATIENCE_ROUNDS + 1)))).toEqual([early.id, late.id])
  })

  it("is five thousand at most, five hundred of them fee-exempt while others wait", () => {
    const senders = Array.from({ length: 90 }, (_, i) => `many ${i}`)
    const exempts = Array.from({ length: 150 }, (_, i) => `free ${i}`)
    const pool = new PendingTransactions(rich(...senders, ...exempts))
    const nonces = Array.from({ length: 64 }, (_, nonce) => nonce)
    for (const name of senders) submit(pool, ...nonces.map((nonce) => paying(name, nonce, 1_000, 10)))
    for (const name of exempts) submit(pool, ...nonces.slice(0, 4).map((nonce) => exempt(name, nonce, 0, 10)))
    expect(pool.size).toBe(90 * 64 + 150 * 4)
    const chosen = pool.choose(everybody)
    expect(chosen).toHaveLength(Limits.VERTEX_TRANSACTIONS)
    expect(chosen.filter(isExempt)).toHaveLength(500)
  })

  it("keeps the places of fee-exempt ones for them, however many paying ones came before", () => {
    const names = Array.from({ length: 20 }, (_, i) => `v${i}`)
    const pool = new PendingTransactions(rich("ann", ...names))
    submit(pool, ...names.map((name) => paying(name, 0, 1_000)))
    const own = [paying("ann", 0, 9_000), paying("ann", 1, 9_000), exempt("ann", 2)]
    submit(pool, ...own)
    // Room for twenty: two of them may be fee-exempt while others wait.
    const chosen = pool.choose({ ...everybody, maxBytes: 20 * 200 })
    expect(idsOf(chosen.slice(0, 3))).toEqual(idsOf(own))
  })

  it("is fee-exempt to exactly a tenth of the fresh bytes, and to more where nothing else is fresh", () => {
    const names = Array.from({ length: 20 }, (_, i) => `v${i}`)
    const fresh = { ...everybody, freshBytes: 10 * 200 }
    const mixed = new PendingTransactions(rich(...names))
    submit(mixed, ...names.slice(0, 10).map((name) => paying(name, 0, 1_000)))
    submit(mixed, ...names.slice(10).map((name) => exempt(name, 0)))
    expect(mixed.choose(fresh).filter(isExempt)).toHaveLength(1)
    expect(mixed.choose(fresh)).toHaveLength(10)
    const alone = new PendingTransactions(rich(...names))
    submit(alone, ...names.map((name) => exempt(name, 0)))
    expect(alone.choose(fresh)).toHaveLength(10)
  })

  it("counts a transaction as free only when every vertex it stands in is gone", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 0, 1_000)
    submit(pool, one)
    pool.included([one], Natural.round(8))
    pool.included([one], Natural.round(9))
    pool.excluded([one])
    expect(pool.choose(everybody)).toEqual([])
    pool.excluded([one])
    expect(idsOf(pool.choose(everybody))).toEqual([one.id])
  })

  // Vertices for old slots that nobody can order any more kept what stood in them from every other vertex until they were
  // collected.
  it("stands in a vertex that was not ordered for long, and then comes again from the leader or whose it is", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 0, 1_000)
    submit(pool, one)
    pool.included([one], round)
    const wish = (later: number, freshBytes: number, isAssigned: boolean) => ({
      round: Natural.round(round + later),
      maxBytes: Limits.VERTEX_BYTES,
      freshBytes,
      isAssigned: () => isAssigned,
      hasTurn: () => false,
    })
    const chosen = (later: number, freshBytes: number, isAssigned: boolean) =>
      pool.choose(wish(later, freshBytes, isAssigned)).length
    expect(chosen(OVERDUE_ROUNDS - 1, Limits.VERTEX_BYTES, true)).toBe(0)
    expect(chosen(OVERDUE_ROUNDS, 0, true)).toBe(1)
    expect(chosen(OVERDUE_ROUNDS, Limits.VERTEX_BYTES, false)).toBe(1)
    expect(chosen(OVERDUE_ROUNDS, 0, false)).toBe(0)
    // Who took it again is waited for as long.
    pool.included([one], Natural.round(round + OVERDUE_ROUNDS))
    expect(chosen(OVERDUE_ROUNDS + 1, Limits.VERTEX_BYTES, true)).toBe(0)
    expect(chosen(2 * OVERDUE_ROUNDS, Limits.VERTEX_BYTES, true)).toBe(1)
    // A vertex of an old round, however late it comes, holds nothing back.
    pool.included([one], Natural.round(1))
    expect(chosen(2 * OVERDUE_ROUNDS, Limits.VERTEX_BYTES, true)).toBe(1)
  })

  it("is what the others were to propose, once they had their chance", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const [mine, theirs] = [paying("ann", 0, 1_000), paying("ben", 0, 5_000)]
    submit(pool, mine, theirs)
    const wish = (later: number) => ({
      round: Natural.round(round + later),
      maxBytes: Limits.VERTEX_BYTES,
      freshBytes: 0,
      isAssigned: (sender: string) => sender === addressOf("ann"),
      hasTurn: () => true,
    })
    expect(idsOf(pool.choose(wish(PATIENCE_ROUNDS - 1)))).toEqual([mine.id])
    expect(idsOf(pool.choose(wish(PATIENCE_ROUNDS)))).toEqual([theirs.id, mine.id])
    const notMyTurn = { ...wish(PATIENCE_ROUNDS), hasTurn: () => false }
    expect(idsOf(pool.choose(notMyTurn))).toEqual([mine.id])
  })

  it("is the leader's while it is fresh, as much as it may take of that, and then whose it is to propose", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const [mine, theirs] = [paying("ann", 0, 1_000), paying("ben", 0, 5_000)]
    submit(pool, mine, theirs)
    const wish = (later: number, freshBytes: number) => ({
      round: Natural.round(round + later),
      maxBytes: Limits.VERTEX_BYTES,
      freshBytes,
      isAssigned: (sender: string) => sender === addressOf("ann"),
      hasTurn: () => true,
    })
    for (let later = 0; later < FRESH_ROUNDS; later++) {
      expect(idsOf(pool.choose(wish(later, Limits.VERTEX_BYTES)))).toEqual([theirs.id, mine.id])
      expect(idsOf(pool.choose(wish(later, theirs.encoded.length)))).toEqual([theirs.id])
      expect(idsOf(pool.choose(wish(later, 0)))).toEqual([])
    }
    for (const freshBytes of [0, Limits.VERTEX_BYTES]) {
      expect(idsOf(pool.choose(wish(FRESH_ROUNDS, freshBytes)))).toEqual([mine.id])
    }
  })

  it("goes by fee, but a tenth is kept for fee-exempt ones and no vertex is left empty for it", () => {
    const names = Array.from({ length: 120 }, (_, i) => `v${i}`)
    const pool = new PendingTransactions(rich(...names))
    submit(pool, ...names.slice(0, 60).map((name, i) => paying(name, 0, 1_000 + i)))
    submit(pool, ...names.slice(60).map((name) => exempt(name, 0)))
    // Room for forty.
    const chosen = pool.choose({ ...everybody, maxBytes: 40 * 200 })
    expect(chosen).toHaveLength(40)
    expect(chosen.filter(isExempt)).toHaveLength(4)
    const fees = chosen.filter((each) => !isExempt(each)).map(({ fee }) => Number(fee))
    expect(fees).toEqual(Array.from({ length: 36 }, (_, i) => 1_059 - i))
    const roomy = pool.choose({ ...everybody, maxBytes: 100 * 200 })
    expect(roomy.filter(isExempt)).toHaveLength(40)
  })

  it("is for a tenth fee-exempt also of what a leader takes while it is fresh", () => {
    const names = Array.from({ length: 120 }, (_, i) => `v${i}`)
    const pool = new PendingTransactions(rich(...names))
    submit(pool, ...names.slice(0, 60).map((name) => paying(name, 0, 1_000)))
    submit(pool, ...names.slice(60).map((name) => exempt(name, 0)))
    const chosen = pool.choose({ ...everybody, freshBytes: 40 * 200 })
    expect(chosen.filter(isExempt).length).toBeGreaterThan(0)
    expect(chosen.filter(isExempt).length).toBeLessThanOrEqual(5)
    expect(chosen.filter((each) => !isExempt(each)).length).toBeGreaterThan(30)
  })

  it("passes over what does not fit, and what its sender has behind it", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const small = paying("ben", 0, 1_000, 300)
    submit(pool, paying("ann", 0, 9_000, 5_000), paying("ann", 1, 9_000, 10), small)
    expect(idsOf(pool.choose({ ...everybody, maxBytes: 1_000 }))).toEqual([small.id])
  })
})

describe("a commit", () => {
  it("takes out what it executed and what can no longer be", () => {
    const world = rich("ann", "ben")
    const pool = new PendingTransactions(world)
    const [zero, one, two] = [0, 1, 2].map((nonce) => paying("ann", nonce, 1_000))
    const elsewhere = paying("ann", 1, 5_000)
    if (!zero || !one || !two) throw new Error("three expected")
    submit(pool, zero, one, two, paying("ben", 0, 1_000))
    world.set(addressOf("ann"), 2, 1_001)
    pool.evictExecuted(executionOf([applied, applied]), [[zero, elsewhere]])
    expect(idsOf(pool.of(addressOf("ann")))).toEqual([two.id])
    world.set(addressOf("ann"), 2, 1_000)
    pool.evictExecuted(executionOf([applied]), [[elsewhere]])
    expect(pool.of(addressOf("ann"))).toEqual([])
    expect(pool.size).toBe(1)
    expect(new Set(pool.drain().removed)).toEqual(new Set())
  })

  it("leaves what came too early to wait for its turn", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 1, 1_000)
    submit(pool, one)
    pool.evictExecuted(executionOf([nonceTooHigh]), [[one]])
    expect(idsOf(pool.of(addressOf("ann")))).toEqual([one.id])
  })

  it("takes out what a changed set of keys no longer allows", () => {
    const chain = new Chain({ accounts: { ann: 100 } })
    const [ann, bob] = [person("ann"), person("bob")]
    const pool = poolOf(chain)
    const policy = chain.tx(ann, { _tag: "SetAccountPolicyTx", threshold: 1, keys: [bob.publicKey] }, { fee: 1_000 })
    const later = chain.transfer(ann, bob, 5)
    expect(submit(pool, policy, later)).toEqual(["new", "new"])
    pool.evictExecuted(chain.commit([{ by: person("val"), transactions: [policy] }]), [[policy]])
    expect(pool.size).toBe(0)
    expect(chain.balance(ann)).toBe(coins(100) - 1_000)
  })

  it("takes out what a changed set of keys no longer allows and leaves the rest, whatever else it executed", () => {
    const chain = new Chain({ accounts: { ann: 100 } })
    const [ann, bob, cleo, dan] = [person("ann"), person("bob"), person("cleo"), person("dan")]
    const pool = poolOf(chain)
    const keys = (...of: ReadonlyArray<Person>) =>
      ({ _tag: "SetAccountPolicyTx", threshold: 1, keys: of.map(({ publicKey }) => publicKey) }) as const
    chain.run(chain.tx(ann, keys(bob, cleo), { fee: 1_000 }))
    const by = (who: Person) => ({ ...chain.transfer(ann, bob, 5), authorization: signedBy(who) })
    const change = chain.tx(ann, keys(bob, dan), { fee: 1_000, authorization: signedBy(cleo) })
    const [next, kept, foreign] = [by(bob), by(bob), by(cleo)]
    expect(submit(pool, change, next, kept, foreign)).toEqual(["new", "new", "new", "new"])
    // The transaction after the change changes no keys.
    const transactions = [change, next]
    pool.evictExecuted(chain.commit([{ by: person("val"), transactions }]), [transactions])
    expect(idsOf(pool.of(ann.address))).toEqual([kept.id])
  })

  // They had no effect, cost nothing and stayed: they went into vertices again and again for an hour.
  it("takes out what is free and would have no effect for want of the fee of a failure", () => {
    const chain = new Chain({ accounts: { ann: 5, ben: 6 } })
    const [ann, ben, val] = [person("ann"), person("ben"), person("val")]
    const pool = poolOf(chain)
    const leaves = (who: Person, nonce: number) =>
      transaction(who, { operation: { _tag: "UndelegateTx" }, fee: 0, nonce })
    for (const who of [ann, ben]) {
      chain.run(chain.tx(who, { _tag: "DelegateTx", validator: val.address, amount: coins(5) }, { fee: 0 }))
    }
    const free = [1, 2, 3].map((nonce) => leaves(ann, nonce))
    // Ben has a coin left, and pays for the second.
    const paid = [1, 2].map((nonce) => leaves(ben, nonce))
    expect(submit(pool, ...free, ...paid)).toEqual(["new", "new", "new", "new", "new"])
    const [first, second] = free
    if (first === undefined || second === undefined) throw new Error("three expected")
    const body = [first, second, ...paid.slice(0, 1)]
    pool.evictExecuted(chain.commit([{ by: val, transactions: body }]), [body])
    expect(chain.ledger.read.account(ann.address)).toMatchObject({ nonce: 2, balance: 0 })
    // The last of Ann's waits after the gap that is left, and is proposed no more.
    expect(idsOf([...pool.all].map(({ transaction }) => transaction))).toEqual(
      idsOf([...free.slice(2), ...paid.slice(1)]),
    )
    expect(idsOf(pool.choose(everybody))).toEqual(idsOf(paid.slice(1)))
    const rest = paid.slice(1)
    pool.evictExecuted(chain.commit([{ by: val, transactions: rest }]), [rest])
    expect(pool.choose(everybody)).toEqual([])
  })

  // The id does not cover the signatures: a member put a victim's bytes under a signature of its own key into a vertex,
  // which has no effect, and every pool dropped the victim's transaction.
  it("leaves what stood in it under signatures that are not the sender's", () => {
    const chain = new Chain({ accounts: { ann: 100 } })
    const [ann, bob, eve] = [person("ann"), person("bob"), person("eve")]
    const pool = poolOf(chain)
    const genuine = chain.transfer(ann, bob, 5)
    expect(submit(pool, genuine)).toEqual(["new"])
    for (const authorization of [singleKey(eve), signedBy(ann, eve)]) {
      const forged = { ...genuine, authorization }
      const vertex = { by: person("val"), transactions: [forged] }
      pool.included([forged], round)
      expect(idsOf(pool.choose({ ...everybody, round: Natural.round(round + 1) }))).toEqual([genuine.id])
      pool.excluded([forged])
      pool.evictExecuted(chain.commit([vertex]), [[forged]])
      expect(pool.get(genuine.id)?.transaction).toBe(genuine)
    }
    pool.evictExecuted(chain.commit([{ by: person("val"), transactions: [genuine] }]), [[genuine]])
    expect(pool.size).toBe(0)
    expect(chain.balance(ann)).toBe(coins(100) - 1_005)
  })

  it("takes out a transaction under any signatures that the account asks for", () => {
    const chain = new Chain({ accounts: { ann: 100 } })
    const [ann, bob, cleo] = [person("ann"), person("bob"), person("cleo")]
    const pool = poolOf(chain)
    const keys = [bob.publicKey, cleo.publicKey]
    chain.run(chain.tx(ann, { _tag: "SetAccountPolicyTx", threshold: 1, keys }, { fee: 1_000 }))
    const genuine = { ...chain.transfer(ann, bob, 5), authorization: signedBy(bob) }
    expect(submit(pool, genuine)).toEqual(["new"])
    const other = { ...genuine, authorization: signedBy(cleo) }
    pool.evictExecuted(chain.commit([{ by: person("val"), transactions: [other, genuine] }]), [[other, genuine]])
    expect(pool.size).toBe(0)
  })

  it("brings nothing to the disk that came and went between two looks", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [first, second] = [paying("ann", 0, 1_000), paying("ann", 0, 2_000)]
    submit(pool, first, second)
    const { added, removed } = pool.drain()
    expect(idsOf(added.map(({ transaction }) => transaction))).toEqual([second.id])
    expect(removed).toEqual([])
    submit(pool, paying("ann", 0, 3_000))
    expect(pool.drain().removed).toEqual([second.id])
    expect(pool.hasChanges).toBe(false)
  })

  it("brings nothing to the disk for what left and came again", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 0, 1_000)
    submit(pool, one)
    expect(pool.drain().added).toHaveLength(1)
    pool.expire(Natural.timestamp(at + LIFETIME_MS))
    submit(pool, one)
    expect(pool.hasChanges).toBe(false)
    expect(pool.drain()).toEqual({ added: [], removed: [] })
  })

  it("has changes as long as one came or one left, also where one did each", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    submit(pool, paying("ann", 0, 1_000))
    pool.drain()
    expect(pool.hasChanges).toBe(false)
    pool.expire(Natural.timestamp(at + LIFETIME_MS))
    submit(pool, paying("ben", 0, 1_000))
    expect(pool.hasChanges).toBe(true)
    const { added, removed } = pool.drain()
    expect([added.length, removed.length, pool.hasChanges]).toEqual([1, 1, false])
  })

  it("removes from the disk what a restart finds there and no longer takes", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [good, poor] = [paying("ann", 0, 1_000), paying("ben", 0, 1_000)]
    pool.restore(
      [good, poor].map((transaction) => ({ transaction, receivedAt: at })),
      round,
    )
    expect(pool.drain()).toEqual({ added: [], removed: [poor.id] })
    expect(pool.size).toBe(1)
  })

  it("brings to the disk what was there at the look before", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const [early, late] = [paying("ann", 0, 1_000), paying("ben", 0, 1_000)]
    const look = () => {
      const { added, removed } = pool.drainWaiting()
      return { added: idsOf(added.map(({ transaction }) => transaction)), removed }
    }
    submit(pool, early)
    expect(look()).toEqual({ added: [], removed: [] })
    expect(pool.hasChanges).toBe(true)
    submit(pool, late)
    expect(look()).toEqual({ added: [early.id], removed: [] })
    expect(look()).toEqual({ added: [late.id], removed: [] })
    expect(pool.hasChanges).toBe(false)
    submit(pool, paying("ann", 1, 1_000), paying("ann", 0, 5_000))
    expect(look()).toEqual({ added: [], removed: [early.id] })
  })
})

const names = ["ann", "ben", "cleo", "dan"]

const action = FastCheck.oneof(
  {
    weight: 12,
    arbitrary: FastCheck.record({
      tag: FastCheck.constant("submit" as const),
      name: FastCheck.constantFrom(...names),
      nonce: FastCheck.nat(9),
      fee: FastCheck.oneof(FastCheck.nat(12), FastCheck.nat(2_000), FastCheck.nat(40)),
      isExempt: FastCheck.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      tag: FastCheck.constant("commit" as const),
      name: FastCheck.constantFrom(...names),
      nonces: FastCheck.nat(3),
      balance: FastCheck.nat(5_000),
    }),
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({ tag: FastCheck.constant("wait" as const), ms: FastCheck.nat(LIFETIME_MS) }),
  },
)

describe("the list of what pays most", () => {
  it("goes by fee alone, not by what can be proposed first", () => {
    const pool = new PendingTransactions(rich("ann", "ben", "cat"))
    const [first, second] = [paying("ann", 0, 1_000), paying("ann", 1, 9_000)]
    const [afterGap, other] = [paying("ben", 5, 8_000), paying("cat", 0, 1_000)]
    submit(pool, first, second, afterGap, other)
    expect(idsOf(pool.top(9).map(({ transaction }) => transaction))).toEqual(idsOf([second, afterGap, first, other]))
    expect(idsOf(pool.top(1).map(({ transaction }) => transaction))).toEqual(idsOf([second]))
  })
})

describe("the pool beside its definition", () => {
  it("says, keeps and orders the same, whatever comes", () => {
    let evicted = 0
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(action, { maxLength: 80 }),
        FastCheck.integer({ min: 1, max: 20 }),
        (actions, capacity) => {
          const world = new World()
          for (const name of names) world.set(addressOf(name), 0, 5_000)
          const pool = new PendingTransactions(world, capacity)
          const naive = new NaivePool(world, capacity)
          let now = 1
          for (const each of actions) {
            if (each.tag === "submit") {
              const transaction = (each.isExempt ? exempt : paying)(each.name, each.nonce, each.fee)
              const answer = naive.submit(transaction, now, 10)
              if (answer === "MempoolFull") evicted++
              expect(told(pool.submit(transaction, Natural.timestamp(now), round))).toBe(answer)
            } else if (each.tag === "commit") {
              const address = addressOf(each.name)
              const executed = naive.of(address).slice(0, Math.min(each.nonces, naive.reachable(address)))
              world.set(address, world.account(address).nonce + each.nonces, each.balance)
              const transactions = executed.map(({ transaction }) => transaction)
              const done = transactions.length > 0 ? transactions : [paying(each.name, 0, 1)]
              pool.evictExecuted(executionOf(done.map(() => applied)), [done])
              naive.review([address])
            } else {
              now += each.ms
              pool.expire(Natural.timestamp(now))
              naive.expire(now)
            }
            now++
            const byFee = naive.byFee()
            expect(pool.size).toBe(byFee.length)
            expect(idsOf(pool.top(100).map(({ transaction }) => transaction))).toEqual(byFee)
            expect(idsOf(pool.top(3).map(({ transaction }) => transaction))).toEqual(byFee.slice(0, 3))
            for (const name of names) {
              const address = addressOf(name)
              expect(pool.nextNonce(address)).toBe(world.account(address).nonce + naive.reachable(address))
            }
          }
        },
      ),
      { numRuns: 300 },
    )
    expect(evicted).toBeGreaterThan(50)
  })

  it("a restart from what was drained has the same transactions", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(action, { maxLength: 60 }), (actions) => {
        const world = new World()
        for (const name of names) world.set(addressOf(name), 0, 5_000)
        const pool = new PendingTransactions(world, 12)
        const disk = new Map<string, { readonly transaction: Transaction; readonly receivedAt: Natural.Timestamp }>()
        for (const [i, each] of actions.entries()) {
          if (each.tag !== "submit") continue
          const transaction = (each.isExempt ? exempt : paying)(each.name, each.nonce, each.fee)
          pool.submit(transaction, Natural.timestamp(i), round)
          if (i % 3 > 0) continue
          const { added, removed } = i % 2 === 0 ? pool.drainWaiting() : pool.drain()
          for (const id of removed) disk.delete(id)
          for (const one of added) disk.set(one.transaction.id, one)
        }
        const { added, removed } = pool.drain()
        for (const id of removed) disk.delete(id)
        for (const one of added) disk.set(one.transaction.id, one)
        const again = new PendingTransactions(world, 12)
        again.restore(disk.values(), round)
        const both = [pool, again].map((each) => idsOf([...each.all].map(({ transaction }) => transaction)))
        expect(both[1]).toEqual(both[0])
        expect(again.hasChanges).toBe(false)
      }),
      { numRuns: 200 },
    )
  })
})
