import { describe, expect, it } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import { emptyBody, type Vertex } from "../../src/protocol/vertex/Vertex.js"
import { UnorderedVertices } from "../../src/replica/live/UnorderedVertices.js"
import { equalWeights, openingOf, recordOf } from "../consensus/TestCommittee.js"
import { VertexBuilder } from "../consensus/VertexBuilder.js"
import { poolOf } from "./AcceptingPool.js"
import { transfer } from "./Cluster.js"

const builder = new VertexBuilder(openingOf(recordOf(equalWeights(4))))
const [first, second] = [transfer("ann", 0, "bob", 1), transfer("ann", 1, "bob", 1)]

const carrying = (round: number, ...transactions: ReadonlyArray<Transaction>): Vertex =>
  builder.make(0, round, [], {}, { ...emptyBody, transactions })

const started = () => {
  const pool = poolOf([first, second])
  const unordered = new UnorderedVertices(pool)
  return { unordered, included: () => [first, second].map((each) => pool.isIncluded(each)) }
}

describe("transactions in an unordered vertex", () => {
  it("are included until the vertex is ordered, however often it comes and goes", () => {
    const { unordered, included } = started()
    const vertex = carrying(3, first)
    unordered.add(vertex)
    unordered.add(vertex)
    expect([unordered.size, included()]).toEqual([1, [true, false]])
    unordered.remove([vertex])
    expect([unordered.size, included()]).toEqual([0, [false, false]])
    // The count does not go below zero.
    unordered.remove([vertex])
    unordered.add(vertex)
    expect(included()).toEqual([true, false])
  })

  it("are included while another vertex still has them", () => {
    const { unordered, included } = started()
    unordered.add(carrying(3, first))
    unordered.add(carrying(4, first, second))
    unordered.remove([carrying(3, first)])
    expect(included()).toEqual([true, true])
  })

  it("are free again when nothing of their round can be ordered any more", () => {
    const { unordered, included } = started()
    unordered.add(carrying(3, first))
    unordered.add(carrying(4, second))
    unordered.forgetUpTo(Natural.round(2))
    expect(included()).toEqual([true, true])
    unordered.forgetUpTo(Natural.round(3))
    expect([unordered.size, included()]).toEqual([1, [false, true]])
    unordered.clear()
    expect([unordered.size, included()]).toEqual([0, [false, false]])
  })
})
