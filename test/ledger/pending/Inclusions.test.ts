import { FastCheck } from "effect"
import { expect, it } from "vitest"
import { Inclusions } from "../../../src/ledger/pending/Inclusions.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import type { Authorization, KeySignature, Transaction } from "../../../src/protocol/transaction/Transaction.js"
import { paying } from "./World.js"

const keySignature = (digit: string): KeySignature => ({
  publicKey: digit.repeat(64) as KeySignature["publicKey"],
  signature: digit.repeat(128) as KeySignature["signature"],
})

const single = (digit: string): Authorization => ({ _tag: "SingleKey", ...keySignature(digit) })
const several = (...digits: ReadonlyArray<string>): Authorization => ({
  _tag: "Policy",
  signatures: digits.map(keySignature),
})

const bodies = ["alice", "bob"].map((name) => paying(name, 0, 10))
const forged: Authorization = { ...keySignature("a"), _tag: "SingleKey", signature: keySignature("b").signature }
const authorizations = [single("a"), single("b"), forged, several("a"), several("a", "b"), several("b", "a"), several()]

/** Two ids, each under seven authorizations that share keys, signatures and tags. */
const transactions = bodies.flatMap((body) => authorizations.map((authorization) => ({ ...body, authorization })))

/** As decoding it again gives it: equal, but sharing no object. */
const again = (transaction: Transaction): Transaction => structuredClone(transaction)

const index = FastCheck.integer({ min: 0, max: transactions.length - 1 })
const steps = FastCheck.array(
  FastCheck.record({
    isAdded: FastCheck.boolean(),
    which: FastCheck.uniqueArray(index, { minLength: 1, maxLength: 4 }),
    round: FastCheck.integer({ min: 1, max: 9 }),
  }),
  { maxLength: 40 },
)

it("keeps inclusions apart by exact signatures, as a list of all of them does", () => {
  FastCheck.assert(
    FastCheck.property(steps, (script) => {
      const inclusions = new Inclusions()
      const expected = transactions.map(() => ({ vertices: 0, first: 0, last: 0 }))
      for (const { isAdded, which, round } of script) {
        const vertex = which
          .map((i) => transactions[i])
          .filter((one) => one !== undefined)
          .map(again)
        if (isAdded) inclusions.add(vertex, Natural.round(round))
        else inclusions.remove(vertex)
        for (const i of which) {
          const one = expected[i]
          if (one === undefined) continue
          if (!isAdded) one.vertices = Math.max(0, one.vertices - 1)
          else {
            one.first = one.vertices === 0 ? round : Math.min(one.first, round)
            one.last = one.vertices === 0 ? round : Math.max(one.last, round)
            one.vertices++
          }
        }
        for (const [i, transaction] of transactions.entries()) {
          expect(inclusions.of(again(transaction))).toEqual(expected[i]?.vertices === 0 ? undefined : expected[i])
        }
      }
      const standing = expected.flatMap(({ vertices }, i) => (vertices > 0 ? [transactions[i]?.id] : []))
      expect(inclusions.size).toBe(new Set(standing).size)
    }),
  )
})

it("forgets an id with its last vertex, in any order of its signatures", () => {
  const [one, other] = [transactions[0], transactions[1]]
  if (one === undefined || other === undefined) throw new Error("two expected")
  for (const order of [
    [one, other],
    [other, one],
  ]) {
    const inclusions = new Inclusions()
    for (const each of [one, other]) inclusions.add([again(each)], Natural.round(1))
    expect(inclusions.size).toBe(1)
    for (const each of order) inclusions.remove([again(each)])
    expect(inclusions.size).toBe(0)
  }
})
