/** Upgrades of the protocol: who can decide one, when it takes effect, and what changes. Votes as in `Proposals`: 6 000 and 4 000. */
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, type Person, told } from "./builders.js"
import { alice, bob, other, val } from "./People.js"
import { proposal, proposing, voted, voting, world } from "./Proposals.js"

const to = (value: number): ProposalPayload => ({ _tag: "ParameterChange", param: "protocol_version", value })

const both: ReadonlyArray<readonly [Person, boolean]> = [
  [val, true],
  [other, true],
]

const versionOf = ({ epoch }: Chain): number => epoch.rules.protocolVersion

/** In force from the second epoch on. */
const upgraded = (): Chain => {
  const chain = voted(to(3), both)
  chain.closeEpoch()
  return chain
}

describe("a proposal of a version", () => {
  it("names the next one: none is skipped or taken back", () => {
    const chain = upgraded()
    const before = new Chain(world)
    const outcomes = [before, chain].map((each) =>
      each.run(...[1, 2, 3, 4, 5].map((version) => proposing(each, alice, to(version)))).map(told),
    )
    const refused = "failed: parameter_out_of_bounds"
    expect(outcomes).toEqual([
      [refused, refused, "applied", refused, refused],
      [refused, refused, refused, "applied", refused],
    ])
  })

  it("passes with more than two thirds of the snapshot, for any turnout and part of the votes", () => {
    for (const [votes, status] of [
      [[[val, true]], "Rejected"],
      [
        [
          [val, true],
          [other, false],
        ],
        "Rejected",
      ],
      [both, "Executed"],
    ] as const) {
      const chain = voted(to(3), votes)
      chain.advanceTo(16)
      expect(proposal(chain)).toMatchObject({ status, bondStatus: "returned" })
    }
    const another = voted({ _tag: "ParameterChange", param: "slash_percent", value: 77 }, [[val, true]])
    another.advanceTo(16)
    expect(proposal(another)?.status).toBe("Executed")
  })

  it("is announced once it has passed, and in force from the first round of the next epoch", () => {
    const chain = voted(to(3), both)
    const seen = () => [versionOf(chain), chain.ledger.read.decidedVersion]
    expect(seen()).toEqual([2, 2])
    chain.advanceTo(12)
    expect([proposal(chain)?.status, ...seen()]).toEqual(["Passed", 2, 3])
    chain.advanceTo(16)
    expect([proposal(chain)?.status, ...seen()]).toEqual(["Executed", 2, 3])
    chain.advanceTo(39)
    expect([chain.epoch.epoch, ...seen()]).toEqual([1, 2, 3])
    chain.advanceTo(40)
    expect([chain.epoch.epoch, ...seen()]).toEqual([2, 3, 3])
    chain.closeEpoch()
    expect([chain.epoch.epoch, ...seen()]).toEqual([3, 3, 3])
  })

  it("fails once another proposal has put that version in force", () => {
    const chain = voted(to(3), both)
    chain.advanceTo(30)
    chain.run(proposing(chain, alice, to(3)))
    chain.run(...[val, other].map((who) => voting(chain, who, true, 2)))
    chain.closeEpoch()
    chain.advanceTo(46)
    expect([1, 2].map((id) => proposal(chain, id))).toMatchObject([
      { status: "Executed" },
      { status: "Failed", failure: "parameter_out_of_bounds" },
    ])
    expect([versionOf(chain), chain.ledger.read.decidedVersion]).toEqual([3, 3])
  })

  it("is the same for a ledger that is rebuilt from its records at any moment", () => {
    for (const at of [1, 2, 3, 4, 5, 9]) {
      const chain = voted(to(3), both)
      for (const round of [12, 16, 39, 40, 41]) chain.advanceTo(round)
      chain.run(chain.transfer(alice, bob, 1))
      const first = new Chain(chain.genesis)
      for (const input of chain.inputs.slice(0, at)) Either.getOrThrowWith(first.ledger.execute(input), (left) => left)
      const { protocol } = chain.genesis
      const key = { low: 5, high: 6 }
      const again = Either.getOrThrow(fromRecords(protocol, key, first.ledger.records(), first.ledger.effectsDigest))
      for (const input of chain.inputs.slice(at)) Either.getOrThrowWith(again.execute(input), (left) => left)
      expect(again.effectsDigest).toBe(chain.ledger.effectsDigest)
      expect(again.read.epoch).toEqual(chain.epoch)
    }
  })
})

describe("the effects digest", () => {
  const digestAfter = (previous: Hash.Hash, ...parts: ReadonlyArray<Uint8Array>) =>
    Hash.of(
      "udg/effects",
      Binary.encode((writer) => writer.hex(previous)),
      ...parts,
    )
  const bytes = (hash: Hash.Hash) => Binary.encode((writer) => writer.hex(hash))

  it("covers outcomes from version 3 on, and not in the commit that closes the last epoch of version 2", () => {
    const chain = voted(to(3), both)
    chain.advanceTo(16)
    let previous = chain.ledger.effectsDigest
    const closing = chain.advanceTo(40)
    expect(closing.effectsDigest).toBe(digestAfter(previous, closing.changes.encoded))
    expect(closing.nextEpoch?.rules.protocolVersion).toBe(3)
    previous = closing.effectsDigest
    const transactions = [
      chain.transfer(alice, bob, 1),
      chain.unstake(alice),
      chain.tx(bob, { _tag: "UnstakeTx" }, { nonce: 99 }),
    ]
    const first = chain.commit([
      { by: val, transactions: transactions.slice(0, 1) },
      { by: other, transactions: transactions.slice(1) },
    ])
    expect(first.vertices.flatMap((vertex) => vertex.transactions.map(({ _tag }) => _tag))).toEqual([
      "Applied",
      "Failed",
      "NoEffect",
    ])
    const outcomes = Hash.of(
      "udg/outcomes",
      ...transactions.map(({ id }, n) => Binary.encode((writer) => writer.hex(id).u8([1, 2, 0][n] ?? 9))),
    )
    expect(first.effectsDigest).toBe(
      digestAfter(previous, bytes(Hash.of("udg/changes", first.changes.encoded)), bytes(outcomes)),
    )
  })
})

describe("any votes of any validators", () => {
  it("upgrade the network exactly if those for it hold more than two thirds of the stake, at one close, on every node", () => {
    const stakes = fc.array(fc.integer({ min: 2_000, max: 9_000 }), { minLength: 1, maxLength: 7 })
    fc.assert(
      fc.property(stakes, fc.infiniteStream(fc.option(fc.boolean())), fc.nat(70), (amounts, stream, delay) => {
        const names = amounts.map((_, i) => `voter${i}`)
        const chain = new Chain({
          ...world,
          accounts: { alice: 9_000, ...Object.fromEntries(names.map((name) => [name, 10])) },
          validators: Object.fromEntries(names.map((name, i) => [name, amounts[i] ?? 0])),
          parameters: { ...world.parameters, executionDelayRounds: delay },
        })
        chain.run(proposing(chain, alice, to(3)))
        let yes = 0
        const all = chain.committee
        const votes = all.flatMap((who) => {
          const [vote] = stream.take(1)
          if (vote === true) yes += chain.account(who).stake?.amount ?? 0
          return vote === null || vote === undefined ? [] : [voting(chain, who, vote)]
        })
        chain.run(...votes)
        const versions = [versionOf(chain)]
        for (let epoch = 1; epoch <= 3; epoch++) {
          chain.closeEpoch()
          versions.push(versionOf(chain))
        }
        const isDecided = 3 * yes > 2 * chain.ledger.read.totals.staked
        const closes = Math.ceil((11 + delay) / 40)
        expect(versions).toEqual([1, 2, 3, 4].map((epoch) => (isDecided && epoch > closes ? 3 : 2)))
      }),
      { numRuns: 60 },
    )
  })
})
