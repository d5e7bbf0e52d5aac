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

it("evidence is forgotten with its epoch, and no other", () => {
  const pool = new EvidencePool()
  for (const epoch of [1, 2, 3]) expect(pool.add(proofOf(epoch, 0))).toBe(true)
  pool.forgetBefore(Natural.epoch(2))
  expect(pool.size).toBe(2)
  expect([1, 2, 3].map((epoch) => pool.wants(proofOf(epoch, 0)))).toEqual([true, false, false])
})
