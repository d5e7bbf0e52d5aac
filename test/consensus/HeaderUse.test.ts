/** Whether a node can use a vertex, decided before its signatures are verified. */
import { describe, expect, it } from "vitest"
import { NotAMember, WrongBase } from "../../src/consensus/dag/Validity.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { at, builder, CLOSING_ROUNDS, closing, Driven, NOW, next, upTo } from "./DrivenCore.js"
import { equalWeights, openingOf, recordOf } from "./TestCommittee.js"
import { VertexBuilder } from "./VertexBuilder.js"

const headerOf = (seat: number, round: number, given: { readonly base?: Hash.Hash } = {}) =>
  builder.make(seat, round, [], given).header
const of = (epoch: number, seat: number, round: number) =>
  builder.make(seat, round, [], { epoch: Natural.epoch(epoch) }).header

describe("the use of a vertex, by its header alone", () => {
  it("is insertion for vertices missing in its own epoch, each once", () => {
    const node = new Driven()
    node.receive(...upTo(20))
    const { core } = node
    const here = core.epoch.dag.at(Natural.round(18)).map(({ vertex }) => vertex.header)
    expect(here).toHaveLength(4)
    expect(here.map((header) => core.useOf(header)._tag)).toEqual(["Known", "Known", "Known", "Known"])
    expect(core.useOf(headerOf(1, 25))._tag).toBe("Wanted")
    expect(core.useOf(headerOf(0, 25))._tag).toBe("Wanted")
    // Its round was collected, and higher vertices of this validator are known.
    expect(core.useOf(headerOf(1, 1))._tag).toBe("Known")
  })

  it("is ruled out on another base or by a non-member", () => {
    const { core } = new Driven({}, null)
    const base = Hash.of("udg/checkpoint-id", Uint8Array.of(1))
    expect(core.useOf(headerOf(1, 3, { base }))).toEqual({
      _tag: "Invalid",
      error: new WrongBase({ found: base, expected: builder.opening.base }),
    })
    const stranger = new VertexBuilder(openingOf(recordOf(equalWeights(5)))).make(4, 3, [], {
      base: builder.opening.base,
    })
    expect(core.useOf(stranger.header)).toEqual({
      _tag: "Invalid",
      error: new NotAMember({ author: stranger.header.author }),
    })
    expect(core.signing).toEqual({ _tag: "NoSeat" })
  })

  it("is its header alone in other epochs if it is the node's own, and otherwise to show who is behind", () => {
    const node = new Driven().closed()
    node.sign(closing, [0, 1, 2])
    const { core } = node
    expect(core.epoch.opening.record.epoch).toBe(2)
    const uses = (seat: number) => [0, 1, 3, 9].map((epoch) => core.useOf(of(epoch, seat, 30)))
    const elsewhere = (epoch: number) => ({ _tag: "Elsewhere", epoch })
    expect(uses(1)).toEqual([0, 1, 3, 9].map(elsewhere))
    const headerOnly = { _tag: "HeaderOnly" }
    expect(uses(0)).toEqual([elsewhere(0), headerOnly, headerOnly, headerOnly])
  })

  it("changes at the close: the next epoch's is wanted early, and of this one only each author's highest", () => {
    const { core } = new Driven().closed()
    const { epoch } = core.epoch.opening.record
    expect(core.following(at(NOW))).toMatchObject({ _tag: "Closing", epoch })
    expect(next.opening.base).not.toBe(builder.opening.base)
    const { highestRound } = core.epoch.dag
    expect(highestRound).toBe(CLOSING_ROUNDS)
    expect(core.useOf(headerOf(1, highestRound + 1))._tag).toBe("HeaderOnly")
    expect(core.useOf(headerOf(1, highestRound - 1))._tag).toBe("Known")
    expect(core.useOf(headerOf(0, highestRound - 1))._tag).toBe("HeaderOnly")
    expect(core.held.early).toBe(0)
  })
})
