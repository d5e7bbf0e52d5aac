import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { EXEMPT_PER_SENDER, LIFETIME_MS, PendingTransactions } from "../../../src/ledger/pending/PendingTransactions.js"
import type { Outcome } from "../../../src/ledger/rules/Execution.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import { Chain, coins, type Person, person, signedBy, singleKey, transaction } from "../builders.js"
import { isExempt } from "./NaivePool.js"
import { applied, at, everybody, executionOf, idsOf, rich, round, submit } from "./Pool.js"
import { addressOf, exempt, paying, World } from "./World.js"

const poolOf = ({ ledger }: Chain): PendingTransactions =>
  new PendingTransactions({
    admission: (transaction, reserved) => ledger.admission(transaction, reserved),
    hasEffect: (transaction) => ledger.hasEffect(transaction),
    spending: (transaction) => ledger.spending(transaction),
    account: (address) => ledger.read.account(address),
  })

const nonceTooHigh: Outcome = {
  _tag: "NoEffect",
  reason: { _tag: "NonceTooHigh", nonce: Natural.nonce(1), next: Natural.nonce(0) },
}

describe("a pending transaction", () => {
  it("submitted twice gets the same answer, without a second transaction", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 0, 1_000)
    expect(submit(pool, one, one)).toEqual(["new", "known"])
    expect(pool.size).toBe(1)
  })

  it("is replaced by one that pays ten per cent and one sat more, and by no other", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [first, short, enough] = [paying("ann", 0, 1_005), paying("ann", 0, 1_105), paying("ann", 0, 1_106)]
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

  it("can spend only the rest that its sender's other pending ones leave, in any order of nonces", () => {
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

  it("expires after an hour", () => {
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

  it("expires an hour after its own arrival when an earlier one has left, and is never late", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const expiryOf = (ms: number) => Natural.timestamp(at + ms + LIFETIME_MS)
    submit(pool, paying("ann", 0, 1_000))
    for (const [fee, ms] of [
      [2_000, 5],
      [3_000, 10],
    ] as const)
      pool.submit(paying("ann", 0, fee), Natural.timestamp(at + ms), round)
    pool.submit(paying("ben", 0, 1_000), Natural.timestamp(at + 20), round)
    expect(pool.nextExpiry).toBeLessThanOrEqual(expiryOf(10))
    pool.expire(expiryOf(5))
    expect([pool.size, pool.nextExpiry]).toEqual([2, expiryOf(10)])
    pool.expire(expiryOf(10))
    expect([pool.size, pool.nextExpiry]).toEqual([1, expiryOf(20)])
    pool.expire(expiryOf(20))
    expect([pool.size, pool.nextExpiry]).toEqual([0, null])
  })

  it("determines its sender's next nonce up to the first gap", () => {
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

  it("that is fee-exempt frees its place once it is executed", () => {
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

  it("that pays frees no fee-exempt place when it is executed", () => {
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

  it("is announced to peers once, on arrival, and not after a restart", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const [one, two] = [paying("ann", 0, 1_000), paying("ann", 1, 1_000)]
    const arrived = () => idsOf(pool.takeArrivals().map(({ transaction }) => transaction))
    expect(arrived()).toEqual([])
    submit(pool, one, two, one)
    expect([arrived(), arrived()]).toEqual([[one.id, two.id], []])
    pool.restore([{ transaction: paying("ben", 0, 1_000), receivedAt: at }], round)
    expect(arrived()).toEqual([])
  })

  it("is in a vertex or not, and returns when that vertex is abandoned", () => {
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

describe("a full pool", () => {
  // The signature of each was checked before the pool found out that it had no room for it.
  it("refuses before the signature check, with the same message", () => {
    const pool = new PendingTransactions(rich("ann", "ben", "cleo", "dan"), 2)
    submit(pool, paying("ann", 0, 2_000), paying("ben", 0, 3_000))
    for (const newcomer of [paying("cleo", 0, 2_000), paying("cleo", 1, 90_000), paying("ann", 1, 90_000)]) {
      expect(pool.judge(newcomer)).toEqual(Either.left({ _tag: "MempoolFull", limit: 2, of: "pool" }))
    }
    expect(pool.judge(paying("cleo", 0, 2_001))).toEqual(Either.right("new"))
    expect(pool.remembered.unpaid).toBe(0)
  })

  it("replaces its cheapest only for a higher fee", () => {
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

  it("does not let a low fee hide behind a high one", () => {
    const pool = new PendingTransactions(rich("ann", "ben"), 3)
    const [low, high] = [paying("ann", 0, 1_000), paying("ann", 1, 9_000)]
    submit(pool, low, high, paying("ben", 0, 2_000))
    expect(submit(pool, paying("ben", 1, 2_000))).toEqual(["new"])
    expect(pool.get(high.id)).toBeUndefined()
    expect(pool.get(low.id)).toBeDefined()
  })

  it("drops transactions after a missing nonce first", () => {
    const pool = new PendingTransactions(rich("ann", "ben", "cleo"), 2)
    const stranded = paying("ann", 7, 90_000)
    submit(pool, stranded, paying("ben", 0, 1_000))
    expect(submit(pool, paying("ben", 5, 90_000))).toEqual(["MempoolFull"])
    expect(submit(pool, paying("cleo", 0, 1_000))).toEqual(["new"])
    expect(pool.get(stranded.id)).toBeUndefined()
  })

  it("keeps a tenth of its places for fee-exempt ones, regardless of others' fees", () => {
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

describe("a commit", () => {
  it("removes executed and impossible transactions", () => {
    const world = rich("ann", "ben")
    const pool = new PendingTransactions(world)
    const [zero, one, two] = [paying("ann", 0, 1_000), paying("ann", 1, 1_000), paying("ann", 2, 1_000)]
    const elsewhere = paying("ann", 1, 5_000)
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

  it("leaves early nonces waiting for their turn", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 1, 1_000)
    submit(pool, one)
    pool.evictExecuted(executionOf([nonceTooHigh]), [[one]])
    expect(idsOf(pool.of(addressOf("ann")))).toEqual([one.id])
  })

  it("removes transactions that changed keys no longer allow", () => {
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

  it("removes transactions that changed keys no longer allow, and no others, after any commit", () => {
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
  it("removes free transactions that would have no effect because the failure fee is missing", () => {
    const chain = new Chain({ accounts: { ann: 5, ben: 6 } })
    const [ann, ben, val] = [person("ann"), person("ben"), person("val")]
    const pool = poolOf(chain)
    const leaves = (who: Person, nonce: number) =>
      transaction(who, { operation: { _tag: "UndelegateTx" }, fee: 0, nonce })
    for (const who of [ann, ben]) {
      chain.run(chain.tx(who, { _tag: "DelegateTx", validator: val.address, amount: coins(5) }, { fee: 0 }))
    }
    const [first, second, third] = [leaves(ann, 1), leaves(ann, 2), leaves(ann, 3)]
    // Ben has a coin left, and pays for the second.
    const [paid, rest] = [leaves(ben, 1), leaves(ben, 2)]
    expect(submit(pool, first, second, third, paid, rest)).toEqual(["new", "new", "new", "new", "new"])
    const body = [first, second, paid]
    pool.evictExecuted(chain.commit([{ by: val, transactions: body }]), [body])
    expect(chain.ledger.read.account(ann.address)).toMatchObject({ nonce: 2, balance: 0 })
    // Ann's last one waits after the remaining gap, and is proposed no more.
    expect(idsOf([...pool.all].map(({ transaction }) => transaction))).toEqual([third.id, rest.id])
    expect(idsOf(pool.choose(everybody))).toEqual([rest.id])
    pool.evictExecuted(chain.commit([{ by: val, transactions: [rest] }]), [[rest]])
    expect(pool.choose(everybody)).toEqual([])
  })

  // The id does not cover the signatures: a member put a victim's bytes under a signature of its own key into a vertex,
  // which has no effect, and every pool dropped the victim's transaction.
  it("leaves transactions that were included under other signatures than the sender's", () => {
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

  it("removes a transaction under any signatures that the account accepts", () => {
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

  it("writes nothing to the disk for a transaction that came and went between two drains", () => {
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

  it("writes nothing to the disk for a transaction that left and returned", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 0, 1_000)
    submit(pool, one)
    expect(pool.drain().added).toHaveLength(1)
    pool.expire(Natural.timestamp(at + LIFETIME_MS))
    submit(pool, one)
    expect(pool.hasChanges).toBe(false)
    expect(pool.drain()).toEqual({ added: [], removed: [] })
  })

  it("reports changes while one came or one left, also where one did each", () => {
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

  it("removes transactions from the disk that a restart would no longer accept", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [good, poor] = [paying("ann", 0, 1_000), paying("ben", 0, 1_000)]
    pool.restore(
      [good, poor].map((transaction) => ({ transaction, receivedAt: at })),
      round,
    )
    expect(pool.drain()).toEqual({ added: [], removed: [poor.id] })
    expect(pool.size).toBe(1)
  })

  it("writes transactions to the disk that were pending at the previous drain", () => {
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

describe("the list of the highest fees", () => {
  it("goes by fee alone, not by what can be proposed first", () => {
    const pool = new PendingTransactions(rich("ann", "ben", "cat"))
    const [first, second] = [paying("ann", 0, 1_000), paying("ann", 1, 9_000)]
    const [afterGap, other] = [paying("ben", 5, 8_000), paying("cat", 0, 1_000)]
    submit(pool, first, second, afterGap, other)
    expect(idsOf(pool.top(9).map(({ transaction }) => transaction))).toEqual(idsOf([second, afterGap, first, other]))
    expect(idsOf(pool.top(1).map(({ transaction }) => transaction))).toEqual(idsOf([second]))
  })
})
