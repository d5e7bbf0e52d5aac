/** The use of a vertex to a node, before any signature of it is verified. */
import { describe, expect, it } from "vitest"
import { Core } from "../../src/consensus/Core.js"
import { NotAMember, WrongBase } from "../../src/consensus/dag/Validity.js"
import { freshEpoch } from "../../src/consensus/output/StoredEpoch.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { ROUND_MS, SmallNetwork, type SmallNode } from "./SmallNetwork.js"
import { equalWeights, openingOf, recordOf, rules } from "./TestCommittee.js"
import { VertexBuilder } from "./VertexBuilder.js"

const calm = { minDelayMs: 5, maxDelayMs: 20, loss: 0 }
const shortEpochs = { rules: { ...rules, epochRounds: 40, collectionDepthRounds: 10 } }

const nodeAt = (network: SmallNetwork, seat: number): SmallNode => {
  const node = network.nodes[seat]
  if (node === undefined) throw new Error(`no node at seat ${seat}`)
  return node
}

const started = (conditions: ConstructorParameters<typeof SmallNetwork>[0]): SmallNetwork => {
  const network = new SmallNetwork(conditions)
  network.start()
  return network
}

describe("the use of a vertex, by its header alone", () => {
  const record = recordOf(equalWeights(4), shortEpochs)
  const builder = new VertexBuilder(openingOf(record))
  const headerOf = (seat: number, round: number, given: { readonly base?: Hash.Hash } = {}) =>
    builder.make(seat, round, [], given).header
  const of = (epoch: number, seat: number, round: number) =>
    builder.make(seat, round, [], { epoch: Natural.epoch(epoch) }).header

  it("is insertion for vertices missing in its own epoch, each once", () => {
    const network = started({ seed: 5, record, ...calm })
    network.run(20 * ROUND_MS)
    const { core } = nodeAt(network, 0)
    const here = core.epoch.dag.at(Natural.round(15)).map(({ vertex }) => vertex.header)
    expect(here).toHaveLength(4)
    expect(here.map((header) => core.useOf(header)._tag)).toEqual(["Known", "Known", "Known", "Known"])
    expect(core.useOf(headerOf(1, 30))._tag).toBe("Wanted")
    expect(core.useOf(headerOf(0, 30))._tag).toBe("Wanted")
    // Its round was collected, and higher ones of this author are known.
    expect(core.useOf(headerOf(1, 1))._tag).toBe("Known")
  })

  it("is none on another base or by a non-member", () => {
    const core = new Core(
      { roundIntervalMs: ROUND_MS, guard: null },
      { current: freshEpoch(builder.opening), previous: null, signed: [], companions: [] },
    )
    const base = Hash.of("udg/checkpoint-id", Uint8Array.of(1))
    expect(core.useOf(headerOf(1, 3, { base }))).toEqual({
      _tag: "Invalid",
      error: new WrongBase({ found: base, expected: builder.opening.base }),
    })
    const stranger = new VertexBuilder(openingOf(recordOf(equalWeights(5), shortEpochs))).make(4, 3, [], {
      base: builder.opening.base,
    })
    expect(core.useOf(stranger.header)).toEqual({
      _tag: "Invalid",
      error: new NotAMember({ author: stranger.header.author }),
    })
    expect(core.signing).toEqual({ _tag: "NoSeat" })
  })

  it("is its header alone in other epochs if it is the node's own, and otherwise to show who is behind", () => {
    const network = started({ seed: 5, record, ...calm })
    network.run(100 * ROUND_MS)
    const { core } = nodeAt(network, 0)
    expect(core.epoch.opening.record.epoch).toBe(3)
    const uses = (seat: number) => [1, 2, 4, 9].map((epoch) => core.useOf(of(epoch, seat, 30)))
    const elsewhere = (epoch: number) => ({ _tag: "Elsewhere", epoch })
    expect(uses(1)).toEqual([1, 2, 4, 9].map(elsewhere))
    const headerOnly = { _tag: "HeaderOnly" }
    expect(uses(0)).toEqual([elsewhere(1), headerOnly, headerOnly, headerOnly])
  })

  it("changes at the close: the next epoch's is wanted early, and of this one only each author's highest", () => {
    const network = started({ seed: 5, record, ...calm })
    const node = nodeAt(network, 0)
    while (node.core.checkpoints.closing !== null || !node.core.epoch.isClosed) network.run(1)
    const { core } = node
    const { epoch } = core.epoch.opening.record
    expect(core.following(network.now)).toMatchObject({ _tag: "Closing", epoch })
    const next = new VertexBuilder({ ...builder.opening, base: core.epoch.position.hash })
    expect(next.opening.base).not.toBe(builder.opening.base)
    const { highestRound } = core.epoch.dag
    expect(core.useOf(headerOf(1, highestRound + 1))._tag).toBe("HeaderOnly")
    expect(core.useOf(headerOf(1, highestRound - 1))._tag).toBe("Known")
    expect(core.useOf(headerOf(0, highestRound - 1))._tag).toBe("HeaderOnly")
    expect(core.held.early).toBe(0)
  })
})
