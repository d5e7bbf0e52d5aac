/** Which pending transactions go into a vertex. */
import { describe, expect, it } from "vitest"
import { FRESH_ROUNDS, OVERDUE_ROUNDS, PATIENCE_ROUNDS } from "../../../src/ledger/pending/Choice.js"
import { PendingTransactions } from "../../../src/ledger/pending/PendingTransactions.js"
import * as Limits from "../../../src/protocol/numbers/Limits.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import { isExempt } from "./NaivePool.js"
import { at, everybody, idsOf, rich, round, submit } from "./Pool.js"
import { addressOf, exempt, paying } from "./World.js"

/** This many rounds after the submission, everything may go into the vertex. */
const roundsLater = (rounds: number) => ({ ...everybody, round: Natural.round(round + rounds) })

const isAnn = (sender: string): boolean => sender === addressOf("ann")

describe("the choice for a vertex", () => {
  it("continues the finalized nonce without a gap, and repeats nothing from other vertices", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [zero, one, two] = [paying("ann", 0, 1_000), paying("ann", 1, 1_000), paying("ann", 2, 1_000)]
    submit(pool, paying("ann", 4, 1_000), two, one, zero)
    expect(idsOf(pool.choose(everybody))).toEqual(idsOf([zero, one, two]))
    pool.included([zero], Natural.round(9))
    expect(idsOf(pool.choose(everybody))).toEqual(idsOf([one, two]))
    pool.excluded([zero])
    // A vertex of the same round may be ordered after this one.
    pool.included([zero], round)
    expect(pool.choose(everybody)).toEqual([])
    pool.excluded([zero])
    expect(idsOf(pool.choose(everybody))).toEqual(idsOf([zero, one, two]))
  })

  it("skips a sender if its first nonces are missing or in other vertices", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const [zero, two] = [paying("ben", 0, 1_000), paying("ben", 2, 1_000)]
    submit(pool, paying("ann", 1, 1_000), zero, two)
    expect(idsOf(pool.choose(everybody))).toEqual([zero.id])
    pool.included([zero], Natural.round(9))
    expect(pool.choose(everybody)).toEqual([])
  })

  it("stops before a transaction in another vertex until that is overdue", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [zero, one, two] = [paying("ann", 0, 1_000), paying("ann", 1, 1_000), paying("ann", 2, 1_000)]
    submit(pool, zero, one, two)
    pool.included([one], Natural.round(9))
    expect(idsOf(pool.choose(everybody))).toEqual([zero.id])
    const later = { ...everybody, round: Natural.round(9 + OVERDUE_ROUNDS) }
    expect(idsOf(pool.choose(later))).toEqual(idsOf([zero, one, two]))
  })

  it("stops before a transaction of another member's sender that has not waited long enough", () => {
    const pool = new PendingTransactions(rich("ann"))
    const [early, late] = [paying("ann", 0, 1_000), paying("ann", 1, 1_000)]
    submit(pool, early)
    pool.submit(late, at, Natural.round(round + 1))
    const chosen = (later: number) =>
      idsOf(pool.choose({ ...roundsLater(later), freshBytes: 0, isAssigned: () => false }))
    expect(chosen(PATIENCE_ROUNDS)).toEqual([early.id])
    expect(chosen(PATIENCE_ROUNDS + 1)).toEqual([early.id, late.id])
  })

  it("has at most five thousand, five hundred of them fee-exempt while others wait", () => {
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

  it("keeps the places of fee-exempt ones, however many paying ones came before", () => {
    const names = Array.from({ length: 20 }, (_, i) => `v${i}`)
    const pool = new PendingTransactions(rich("ann", ...names))
    submit(pool, ...names.map((name) => paying(name, 0, 1_000)))
    const own = [paying("ann", 0, 9_000), paying("ann", 1, 9_000), exempt("ann", 2)]
    submit(pool, ...own)
    // Room for twenty: two of them may be fee-exempt while others wait.
    const chosen = pool.choose({ ...everybody, maxBytes: 20 * 200 })
    expect(idsOf(chosen.slice(0, 3))).toEqual(idsOf(own))
  })

  it("is fee-exempt for exactly a tenth of the fresh bytes, and more where nothing else is fresh", () => {
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

  it("frees a transaction only when every vertex that holds it is gone", () => {
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

  // Vertices for old slots that nobody could order any more kept their transactions from every other vertex until they
  // were collected.
  it("repeats a transaction from a vertex left unordered too long, by the leader or its proposer", () => {
    const pool = new PendingTransactions(rich("ann"))
    const one = paying("ann", 0, 1_000)
    submit(pool, one)
    pool.included([one], round)
    const chosen = (later: number, freshBytes: number, isAssigned: boolean) =>
      pool.choose({ ...roundsLater(later), freshBytes, isAssigned: () => isAssigned, hasTurn: () => false }).length
    expect(chosen(OVERDUE_ROUNDS - 1, Limits.VERTEX_BYTES, true)).toBe(0)
    expect(chosen(OVERDUE_ROUNDS, 0, true)).toBe(1)
    expect(chosen(OVERDUE_ROUNDS, Limits.VERTEX_BYTES, false)).toBe(1)
    expect(chosen(OVERDUE_ROUNDS, 0, false)).toBe(0)
    // The repeated inclusion is waited for just as long.
    pool.included([one], Natural.round(round + OVERDUE_ROUNDS))
    expect(chosen(OVERDUE_ROUNDS + 1, Limits.VERTEX_BYTES, true)).toBe(0)
    expect(chosen(2 * OVERDUE_ROUNDS, Limits.VERTEX_BYTES, true)).toBe(1)
    // A vertex of an old round, however late it comes, holds nothing back.
    pool.included([one], Natural.round(1))
    expect(chosen(2 * OVERDUE_ROUNDS, Limits.VERTEX_BYTES, true)).toBe(1)
  })

  it("includes other members' transactions once they had their chance", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const [mine, theirs] = [paying("ann", 0, 1_000), paying("ben", 0, 5_000)]
    submit(pool, mine, theirs)
    const wish = (later: number) => ({ ...roundsLater(later), freshBytes: 0, isAssigned: isAnn })
    expect(idsOf(pool.choose(wish(PATIENCE_ROUNDS - 1)))).toEqual([mine.id])
    expect(idsOf(pool.choose(wish(PATIENCE_ROUNDS)))).toEqual([theirs.id, mine.id])
    const notMyTurn = { ...wish(PATIENCE_ROUNDS), hasTurn: () => false }
    expect(idsOf(pool.choose(notMyTurn))).toEqual([mine.id])
  })

  it("leaves fresh transactions to the leader, up to its limit, then to their proposer", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const [mine, theirs] = [paying("ann", 0, 1_000), paying("ben", 0, 5_000)]
    submit(pool, mine, theirs)
    const wish = (later: number, freshBytes: number) => ({ ...roundsLater(later), freshBytes, isAssigned: isAnn })
    for (let later = 0; later < FRESH_ROUNDS; later++) {
      expect(idsOf(pool.choose(wish(later, Limits.VERTEX_BYTES)))).toEqual([theirs.id, mine.id])
      expect(idsOf(pool.choose(wish(later, theirs.encoded.length)))).toEqual([theirs.id])
      expect(idsOf(pool.choose(wish(later, 0)))).toEqual([])
    }
    for (const freshBytes of [0, Limits.VERTEX_BYTES]) {
      expect(idsOf(pool.choose(wish(FRESH_ROUNDS, freshBytes)))).toEqual([mine.id])
    }
  })

  it("goes by fee, but keeps a tenth for fee-exempt ones and leaves no vertex empty for it", () => {
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

  it("reserves a tenth for fee-exempt ones also of a leader's fresh transactions", () => {
    const names = Array.from({ length: 120 }, (_, i) => `v${i}`)
    const pool = new PendingTransactions(rich(...names))
    submit(pool, ...names.slice(0, 60).map((name) => paying(name, 0, 1_000)))
    submit(pool, ...names.slice(60).map((name) => exempt(name, 0)))
    const chosen = pool.choose({ ...everybody, freshBytes: 40 * 200 })
    expect(chosen.filter(isExempt).length).toBeGreaterThan(0)
    expect(chosen.filter(isExempt).length).toBeLessThanOrEqual(5)
    expect(chosen.filter((each) => !isExempt(each)).length).toBeGreaterThan(30)
  })

  it("skips what does not fit, and its sender's later transactions", () => {
    const pool = new PendingTransactions(rich("ann", "ben"))
    const small = paying("ben", 0, 1_000, 300)
    submit(pool, paying("ann", 0, 9_000, 5_000), paying("ann", 1, 9_000, 10), small)
    expect(idsOf(pool.choose({ ...everybody, maxBytes: 1_000 }))).toEqual([small.id])
  })
})
