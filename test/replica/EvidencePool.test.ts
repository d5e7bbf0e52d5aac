import { expect, it } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import { EvidencePool } from "../../src/replica/signing/EvidencePool.js"
import { equalWeights, openingOf, recordOf } from "../consensus/TestCommittee.js"
import { VertexBuilder } from "../consensus/VertexBuilder.js"

/** The proof that this seat has filled a slot of this epoch twice. */
const proofOf = (epoch: number, seat: number): Evidence.Evidence => {
  const builder = new VertexBuilder(openingOf(recordOf(equalWeights(4), { epoch: Natural.epoch(epoch) })))
  const [one, other] = [1, 2].map((timestamp) => builder.make(seat, 7, [], { timestamp: Natural.timestamp(timestamp) }))
  const evidence = one && other && Evidence.of(one.header, other.header)
  if (evidence === undefined) throw new Error("two vertices of one slot prove it")
  return evidence
}

it("forgets evidence with its epoch, and no other", () => {
  const pool = new EvidencePool()
  for (const epoch of [1, 2, 3]) expect(pool.add(proofOf(epoch, 0))).toBe(true)
  pool.forgetBefore(Natural.epoch(2))
  expect(pool.size).toBe(2)
  expect([1, 2, 3].map((epoch) => pool.wants(proofOf(epoch, 0)))).toEqual([true, false, false])
})

it("accepts evidence once per author and epoch, of at most two hundred authors", () => {
  const pool = new EvidencePool()
  expect(pool.add(proofOf(1, 0))).toBe(true)
  expect([pool.wants(proofOf(1, 0)), pool.add(proofOf(1, 0)), pool.size]).toEqual([false, false, 1])
  expect([pool.wants(proofOf(1, 1)), pool.wants(proofOf(2, 0))]).toEqual([true, true])
  for (let epoch = 2; epoch <= 200; epoch++) expect(pool.add(proofOf(epoch, 0))).toBe(true)
  expect([pool.add(proofOf(201, 0)), pool.size]).toEqual([false, 200])
})

it("proposes as much evidence as fits, at most sixteen pieces, and again after eight rounds", () => {
  const pool = new EvidencePool()
  const proofs = Array.from({ length: 17 }, (_, i) => proofOf(1 + i, 0))
  for (const proof of proofs) pool.add(proof)
  const [bytes = 0] = proofs.map((proof) => Evidence.encode(proof).length)
  const taken = (round: number, maxBytes = 1_000_000) => pool.take(Natural.round(round), maxBytes)
  expect(taken(0, bytes - 1)).toEqual([])
  expect(taken(0, 2 * bytes)).toEqual(proofs.slice(0, 2))
  expect(taken(1)).toEqual(proofs.slice(2))
  expect(taken(7)).toEqual([])
  expect(taken(8)).toEqual(proofs.slice(0, 2))
  expect(taken(16)).toEqual(proofs.slice(0, 16))
})

it("drops evidence when it can no longer be punished", () => {
  const pool = new EvidencePool()
  for (const seat of [0, 1]) pool.add(proofOf(1, seat))
  pool.settle(({ first }) => first.author === proofOf(1, 1).first.author)
  expect(pool.take(Natural.round(1), 1_000_000)).toEqual([proofOf(1, 1)])
})
