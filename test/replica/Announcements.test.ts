import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import { Announcements } from "../../src/replica/asking/Announcements.js"
import { poolOf } from "./AcceptingPool.js"
import { transfer } from "./Cluster.js"

const pool = poolOf([])

/** A number is a sender, since a transaction after a missing nonce is announced to nobody. */
const taken = (number: number, at: number, nonce = 0): Transaction => {
  const transaction = transfer(`payer ${number}`, nonce, "bob", 1)
  Either.getOrThrow(pool.submit(transaction, Natural.timestamp(at), Natural.round(1)))
  return transaction
}

const telling = () => {
  const announcements = new Announcements({ gatheredMs: 25, againMs: 4_000, overheardMs: 500 })
  return {
    announcements,
    at: (now: number) => announcements.take(pool, Natural.timestamp(now)),
    wakeAt: (now: number) => announcements.wakeAt(Natural.timestamp(now)),
  }
}

describe("a transaction submitted here", () => {
  it("is announced at once where nothing was announced lately, and close followers together", () => {
    const { announcements, at, wakeAt } = telling()
    const [first, second, third] = [taken(0, 1_000), taken(1, 1_005), taken(2, 1_020)]
    announcements.add(first)
    expect(wakeAt(1_000)).toBe(1_000)
    expect(at(1_000)).toEqual([[first]])
    announcements.add(second)
    expect(wakeAt(1_005)).toBe(1_025)
    expect(at(1_005)).toEqual([])
    announcements.add(third)
    expect(at(1_024)).toEqual([])
    expect(wakeAt(1_025)).toBe(1_025)
    expect(at(1_025)).toEqual([[second, third]])
    expect(at(1_050)).toEqual([])
  })

  it("is announced again while it is in no vertex, and no longer when it has left", () => {
    const { announcements, at, wakeAt } = telling()
    const one = taken(5, 20_000)
    announcements.add(one)
    expect(at(20_000)).toEqual([[one]])
    expect(wakeAt(20_001)).toBe(24_000)
    expect(at(23_999)).toEqual([])
    expect(at(24_000)).toEqual([[one]])
    expect(at(27_999)).toEqual([])
    pool.expire(Natural.timestamp(Natural.LATEST))
    expect(at(28_000)).toEqual([])
    expect([announcements.size, wakeAt(28_000)]).toEqual([0, null])
  })

  it("is announced again as long after its announcement as any other, whenever that was", () => {
    const { announcements, at, wakeAt } = telling()
    const [early, late] = [taken(10, 60_000), taken(11, 60_001)]
    announcements.add(early)
    expect(at(60_000)).toEqual([[early]])
    announcements.add(late)
    expect(at(60_025)).toEqual([[late]])
    expect(at(64_000)).toEqual([[early]])
    expect(wakeAt(64_000)).toBe(64_100)
    expect(at(64_100)).toEqual([[late]])
    expect(at(67_999)).toEqual([])
    expect(at(68_099)).toEqual([[early]])
  })

  it("is announced again in one message at a time, so no old one is lost at the end of a queue", () => {
    const { announcements, at, wakeAt } = telling()
    const half = 131_072
    const many = Array.from({ length: 5 }, (_, i) => taken(100 + i, 80_000))
    for (const each of many) Object.assign(each, { encoded: new Uint8Array(half) })
    for (const each of many) announcements.add(each)
    expect(at(80_000).map(({ length }) => length)).toEqual([2, 2, 1])
    expect(at(84_000)).toEqual([many.slice(0, 2)])
    expect([at(84_099), wakeAt(84_099)]).toEqual([[], 84_100])
    expect(at(84_100)).toEqual([many.slice(2, 4)])
    expect(at(84_200)).toEqual([many.slice(4)])
    expect(wakeAt(84_200)).toBe(88_000)
  })

  it("waits as usual for its followers when another is announced again meanwhile", () => {
    const { announcements, at, wakeAt } = telling()
    const [again, first, second] = [taken(30, 40_000), taken(31, 43_990), taken(32, 43_995)]
    announcements.add(again)
    at(40_000)
    announcements.add(first)
    expect(at(43_990)).toEqual([[first]])
    announcements.add(second)
    expect(at(44_000)).toEqual([[again]])
    expect(wakeAt(44_000)).toBe(44_015)
    expect(at(44_015)).toEqual([[second]])
  })

  it("is sent in messages of at most a quarter of a mebibyte, in order of arrival", () => {
    const { announcements, at } = telling()
    const sized = (bytes: number, i: number): Transaction =>
      Object.assign(taken(200 + i, 1), { encoded: new Uint8Array(bytes) })
    const limit = 262_144
    const [whole, half, other, large, last] = [limit - 1, 1, 1, limit + 1, 1].map(sized)
    for (const each of [whole, half, other, large, last]) if (each !== undefined) announcements.add(each)
    expect(at(1)).toEqual([[whole, half], [other], [large], [last]])
  })

  it("is announced again only while no vertex here holds it, counted from its arrival", () => {
    const { announcements, at, wakeAt } = telling()
    expect([wakeAt(30_000), at(30_000)]).toEqual([null, []])
    const [included, waiting] = [taken(20, 30_000), taken(21, 30_000)]
    pool.included([included], Natural.round(2))
    announcements.restore([included, waiting].flatMap(({ id }) => pool.get(id) ?? []))
    expect(announcements.size).toBe(2)
    expect(at(33_999)).toEqual([])
    expect(at(34_000)).toEqual([[waiting]])
    expect(wakeAt(34_000)).toBe(38_000)
  })

  it("is announced only once no nonce before it is missing, and then at once", () => {
    const { announcements, at, wakeAt } = telling()
    const [third, second] = [taken(40, 50_000, 2), taken(40, 50_000, 1)]
    announcements.add(third)
    expect(at(50_000)).toEqual([])
    announcements.add(second)
    expect(at(50_001)).toEqual([])
    // Nor is it announced again as long as nothing has changed.
    expect(at(54_001)).toEqual([])
    const first = taken(40, 54_500)
    announcements.add(first)
    announcements.reached(pool.takeReached())
    expect(wakeAt(54_500)).toBe(54_500)
    expect(at(54_500)).toEqual([[first, second, third]])
    expect(at(58_001)).toEqual([[third, second]])
  })
})

describe("a peer's transaction after a missing nonce", () => {
  it("is announced once, when the gap closes, unless it has left or is in a vertex by then", () => {
    const { announcements, at } = telling()
    const [second, third] = [taken(50, 70_000, 1), taken(50, 70_000, 2)]
    const [included, gone] = [taken(51, 70_000, 1), taken(52, 70_000, 1)]
    for (const number of [50, 51, 52]) taken(number, 70_000)
    const reached = pool.takeReached()
    expect(reached).toEqual([second, third, included, gone])
    announcements.reached(reached)
    pool.included([included], Natural.round(2))
    const better = transfer("payer 52", 1, "bob", 1, 5_000)
    Either.getOrThrow(pool.submit(better, Natural.timestamp(70_000), Natural.round(1)))
    expect(announcements.size).toBe(4)
    expect(at(70_000)).toEqual([[second, third]])
    expect(at(90_000)).toEqual([])
    expect(announcements.size).toBe(0)
  })
})

describe("a peer's transaction beside a worthless one", () => {
  it("is announced once, a moment later, unless it has left or is in a vertex by then", () => {
    const { announcements, at, wakeAt } = telling()
    const [waiting, included, later] = [taken(60, 90_000), taken(61, 90_000), taken(62, 90_100)]
    announcements.overheard([waiting, included], Natural.timestamp(90_000))
    announcements.overheard([later], Natural.timestamp(90_100))
    pool.included([included], Natural.round(2))
    expect([announcements.size, wakeAt(90_000), at(90_499)]).toEqual([3, 90_500, []])
    expect(at(90_500)).toEqual([[waiting]])
    expect([announcements.size, wakeAt(90_500)]).toEqual([1, 90_600])
    pool.expire(Natural.timestamp(Natural.LATEST))
    expect([at(99_000), announcements.size, wakeAt(99_000)]).toEqual([[], 0, null])
  })
})
