import { describe, expect, it } from "vitest"
import { Companions, MOST_BYTES, MOST_BYTES_KEPT } from "../../src/replica/output/Companions.js"
import { transfer, vertex } from "../storage/world.js"

const at = (round: number, transactions = 0) =>
  vertex({ round, transactions: Array.from({ length: transactions }, (_, nonce) => transfer(1, 2, nonce)) })

/** Companions whose first own vertex has synced the ledger's file. */
const begun = (): Companions => {
  const companions = new Companions()
  expect(companions.take()).toBeNull()
  return companions
}

describe("companions of an own vertex", () => {
  it("are the vertices inserted since the previous own one, in order", () => {
    const companions = begun()
    const [one, two, three] = [at(1), at(2), at(3)]
    companions.inserted(one)
    companions.inserted(two)
    expect(companions.take()).toEqual([one, two])
    companions.inserted(three)
    expect([companions.take(), companions.take()]).toEqual([[three], []])
  })

  it("are empty for the first one of a process, which does not know what of the ledger's file is on disk", () => {
    const companions = new Companions()
    companions.inserted(at(1))
    expect(companions.take()).toBeNull()
  })

  it("are dropped if they have too many bytes; later ones are counted from zero", () => {
    const companions = begun()
    const big = at(1, 150)
    const many = Math.floor(MOST_BYTES / big.encoded.length)
    for (let i = 0; i < many; i++) companions.inserted(big)
    expect(companions.take()).toHaveLength(many)
    for (let i = 0; i <= many; i++) companions.inserted(big)
    expect(companions.take()).toBeNull()
    companions.inserted(at(2))
    expect(companions.take()).toHaveLength(1)
  })

  it("are empty once the limit was reached, and complete again afterwards", () => {
    const companions = begun()
    const each = at(1, 150)
    const kept = Math.floor(MOST_BYTES_KEPT / each.encoded.length)
    const taken = Array.from({ length: 2 * (kept + 1) }, () => {
      companions.inserted(each)
      return companions.take()
    })
    const synced = taken.flatMap((companions, i) => (companions === null ? [i] : []))
    expect(synced).toEqual([kept, 2 * kept + 1])
  })
})
