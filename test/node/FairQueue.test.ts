import { describe, expect, it } from "vitest"
import type { Standing } from "../../src/network/Standing.js"
import { FairQueue, type Owner, SHARES } from "../../src/node/signatures/FairQueue.js"

const owner = (peer: string, standing: Standing): Owner => ({ peer, standing })

/** Serves the given number of turns, each at its owner's price, and returns how much each peer got. */
const served = (queue: FairQueue<number>, turns: number, mayHave?: (owner: Owner) => boolean) => {
  const got = new Map<string, number>()
  for (let turn = 0; turn < turns; turn++) {
    const next = queue.next(mayHave)
    if (next === undefined) break
    queue.charge(next.owner, next.item)
    got.set(next.owner.peer, (got.get(next.owner.peer) ?? 0) + next.item)
  }
  return got
}

const fill = (queue: FairQueue<number>, who: Owner, count: number, cost = 1) => {
  for (let i = 0; i < count; i++) queue.push(who, cost)
}

describe("a fair queue", () => {
  it("keeps each peer's order and puts started work first", () => {
    const queue = new FairQueue<number>()
    const a = owner("a", "stranger")
    for (const item of [1, 2, 3]) queue.push(a, item)
    expect(queue.next()?.item).toBe(1)
    queue.pushFirst(a, 9)
    expect([queue.next(), queue.next(), queue.next(), queue.next()].map((next) => next?.item)).toEqual([
      9,
      2,
      3,
      undefined,
    ])
    expect(queue.size).toBe(0)
  })

  it("serves a single piece after at most one turn of each other peer, however much they bring", () => {
    const queue = new FairQueue<number>()
    for (let i = 0; i < 10; i++) fill(queue, owner(`flood ${i}`, "stranger"), 1_000)
    served(queue, 500)
    queue.push(owner("late", "stranger"), 1)
    expect(served(queue, 11).get("late")).toBe(1)
  })

  it("serves a peer as often as a whole network of others, at any cost and with new names", () => {
    const queue = new FairQueue<number>()
    const from = (network: string, peer: string): Owner => ({ peer, standing: "stranger", network })
    for (let i = 0; i < 130; i++) fill(queue, from("10.1", `crowd ${i}`), 10)
    fill(queue, from("10.2", "alone"), 1_000)
    expect(served(queue, 400).get("alone")).toBeGreaterThanOrEqual(199)
    // Leaving a network behind does not shed its debts.
    queue.push(from("10.3", "dear"), 100)
    served(queue, 3)
    queue.drop("dear")
    for (let i = 0; i < 20; i++) queue.push(from("10.3", "dear again"), 100)
    expect(served(queue, 100).get("dear again")).toBeUndefined()
    // Within the network, turns are as fair as elsewhere.
    const got = served(queue, 1_000)
    const crowd = [...got].filter(([peer]) => peer.startsWith("crowd")).map(([, cost]) => cost)
    expect(Math.max(...crowd) - Math.min(...crowd)).toBeLessThanOrEqual(1)
  })

  it("counts the cost of work, not the number of its pieces", () => {
    const queue = new FairQueue<number>()
    fill(queue, owner("small", "member"), 1_000, 1)
    fill(queue, owner("large", "member"), 1_000, 20)
    const got = served(queue, 400)
    expect(Math.abs((got.get("small") ?? 0) - (got.get("large") ?? 0))).toBeLessThanOrEqual(20)
  })

  it("gives the classes their shares while all have work, and starves none", () => {
    const queue = new FairQueue<number>()
    for (let i = 0; i < 20; i++) fill(queue, owner(`stranger ${i}`, "stranger"), 1_000)
    fill(queue, owner("named", "named"), 1_000)
    for (let i = 0; i < 3; i++) fill(queue, owner(`member ${i}`, "member"), 1_000)
    const got = [...served(queue, 1_600)]
    const total = (start: string) =>
      got.filter(([peer]) => peer.startsWith(start)).reduce((sum, [, cost]) => sum + cost, 0)
    expect(total("member")).toBeGreaterThanOrEqual(100 * SHARES.member - 2)
    expect(total("named")).toBeGreaterThanOrEqual(100 * SHARES.named - 2)
    expect(total("stranger")).toBeGreaterThanOrEqual(100 * SHARES.stranger - 2)
  })

  it("lets no peer save up turns while idle or shed its debts", () => {
    const queue = new FairQueue<number>()
    const idle = owner("idle", "member")
    const busy = owner("busy", "member")
    fill(queue, busy, 1_000)
    served(queue, 500)
    fill(queue, idle, 1_000)
    const got = served(queue, 100)
    expect(Math.abs((got.get("idle") ?? 0) - (got.get("busy") ?? 0))).toBeLessThanOrEqual(2)
    // A class that returns has saved no credit either.
    fill(queue, owner("stranger", "stranger"), 1_000)
    expect(served(queue, 130).get("stranger") ?? 0).toBeLessThanOrEqual(130 / (SHARES.member + 1) + 2)
    // A class that has cost much waits, although its line was empty for a moment.
    const debtor = owner("debtor", "stranger")
    const other = new FairQueue<number>()
    fill(other, owner("patient", "stranger"), 100)
    other.push(debtor, 50)
    served(other, 2)
    other.push(debtor, 50)
    expect(served(other, 40).get("debtor")).toBeUndefined()
  })

  it("owes an idle peer nothing for turns that others had meanwhile", () => {
    const queue = new FairQueue<number>()
    fill(queue, owner("busy", "member"), 1_000)
    fill(queue, owner("late", "member"), 1)
    served(queue, 500)
    // It has a line and has had one piece, so it may not catch up on the rest.
    fill(queue, owner("late", "member"), 1_000)
    const got = served(queue, 100)
    expect(Math.abs((got.get("late") ?? 0) - (got.get("busy") ?? 0))).toBeLessThanOrEqual(2)
  })

  it("charges a piece's cost to a peer with nothing else queued, and remembers it while others wait", () => {
    const queue = new FairQueue<number>()
    const debtor = owner("debtor", "stranger")
    fill(queue, owner("patient", "stranger"), 100)
    queue.push(debtor, 50)
    // Enough others that idle peers are examined.
    for (let i = 0; i < 100; i++) fill(queue, owner(`other ${i}`, "stranger"), 1)
    expect(served(queue, 2).get("debtor")).toBe(50)
    served(queue, 10)
    fill(queue, debtor, 10)
    expect(served(queue, 120).get("debtor")).toBeUndefined()
    expect(served(queue, 60).get("debtor")).toBe(10)
  })

  it("passes over peers that may have no turn now, and forgets peers that left", () => {
    const queue = new FairQueue<number>()
    fill(queue, owner("slow", "member"), 3)
    fill(queue, owner("free", "stranger"), 3)
    expect(served(queue, 9, ({ peer }) => peer !== "slow")).toEqual(new Map([["free", 3]]))
    expect(queue.size).toBe(3)
    expect(queue.drop("slow")).toEqual([1, 1, 1])
    expect(queue.size).toBe(0)
    expect(queue.next()).toBeUndefined()
  })
})
