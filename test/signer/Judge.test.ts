import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { sha256Hex } from "#crypto"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Judge from "../../src/signer/Judge.js"
import * as Statement from "../../src/signer/Statement.js"
import * as Arbitraries from "../protocol/arbitraries.js"
import * as Statements from "./Statements.js"

const genesisHash = Statements.hashOf(77)
const node = "n".repeat(64)

const placeOf = (epoch: number, round: number): Statement.Place => ({
  epoch: Natural.epoch(epoch),
  round: Natural.round(round),
})

const start = Judge.vouched(null, placeOf(1, 0))

const judged = (memory: Judge.Memory | null, bytes: Uint8Array): Judge.Verdict =>
  Judge.judge({
    memory,
    publicKey: Statements.validator.publicKey,
    genesisHash,
    node,
    statement: Statement.read(bytes),
    digest: sha256Hex(bytes) as Hash.Hash,
  })

const remembered = (memory: Judge.Memory, bytes: Uint8Array): Judge.Memory => {
  const verdict = judged(memory, bytes)
  if (verdict._tag !== "Remember") throw new Error(`to be remembered, and was: ${JSON.stringify(verdict)}`)
  return Judge.remember(memory, verdict.change)
}

const TAKEN = { _tag: "Refuse", refusal: "this place or a later one is taken" }

const greeting = (genesis: Hash.Hash, prover: string): Uint8Array =>
  Hash.tagged(Binary.utf8("udg/peer\0"), [
    Binary.encode((writer) => writer.hex(genesis).hex(Hash.ZERO).text8(prover).text8("v".repeat(64))),
  ])

describe("a signer's judgement of a vertex", () => {
  it("takes a higher place, and the same bytes again", () => {
    const memory = remembered(start, Statements.vertex({ round: 5 }))
    expect(judged(memory, Statements.vertex({ round: 5 }))).toEqual({ _tag: "Sign" })
    expect(judged(memory, Statements.vertex({ round: 6 }))._tag).toBe("Remember")
    expect(judged(memory, Statements.vertex({ epoch: 2, round: 1, base: 2 }))._tag).toBe("Remember")
  })

  it("refuses another vertex for the slot, and every lower place", () => {
    const memory = remembered(start, Statements.vertex({ epoch: 2, round: 5 }))
    expect(judged(memory, Statements.vertex({ epoch: 2, round: 5, variant: 2 }))).toEqual(TAKEN)
    expect(judged(memory, Statements.vertex({ epoch: 2, round: 5, base: 2 }))).toEqual(TAKEN)
    expect(judged(memory, Statements.vertex({ epoch: 2, round: 4 }))).toEqual(TAKEN)
    expect(judged(memory, Statements.vertex({ epoch: 1, round: 900 }))).toEqual(TAKEN)
    expect(judged(Judge.vouched(memory, placeOf(3, 7)), Statements.vertex({ epoch: 3, round: 7 }))).toEqual(TAKEN)
  })

  it("refuses a second base for an epoch", () => {
    const memory = remembered(start, Statements.vertex({ round: 5 }))
    const refusal = { _tag: "Refuse", refusal: "the epoch has another base" }
    expect(judged(memory, Statements.vertex({ round: 6, base: 2 }))).toEqual(refusal)
  })

  it("refuses everything while it does not know what the key has signed", () => {
    const refusal = "the signer does not know what this key has signed: state a round with udg signer sign-from"
    expect(judged(null, Statements.vertex())).toEqual({ _tag: "Refuse", refusal })
    expect(judged(null, Statements.checkpoint())).toEqual({ _tag: "Refuse", refusal })
    expect(judged(null, Statements.heartbeat())).toEqual({ _tag: "Sign" })
  })

  it("takes the highest place that bytes can name, and nothing after it", () => {
    const highest = { epoch: Number.MAX_SAFE_INTEGER, round: Number.MAX_SAFE_INTEGER }
    const memory = remembered(start, Statements.vertex(highest))
    expect(judged(memory, Statements.vertex({ ...highest, variant: 2 }))).toEqual(TAKEN)
    const withCheckpoint = remembered(memory, Statements.checkpoint(highest))
    expect(judged(withCheckpoint, Statements.checkpoint({ ...highest, variant: 2 }))).toEqual(TAKEN)
  })

  it("refuses a statement of another key", () => {
    const refusal = { _tag: "Refuse", refusal: "it names another key" }
    expect(judged(start, Statements.vertex({ key: Statements.keyOf(2) }))).toEqual(refusal)
    expect(judged(start, Statements.heartbeat({ key: Statements.keyOf(2) }))).toEqual(refusal)
  })

  it("never signs two for a slot, whoever asks for what in which order", () => {
    const place = fc.record({
      epoch: fc.integer({ min: 1, max: 3 }),
      round: fc.integer({ min: 1, max: 6 }),
      base: fc.integer({ min: 1, max: 2 }),
      variant: fc.integer({ min: 1, max: 3 }),
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom("vertex", "checkpoint"), place)), (asked) => {
        let memory = start
        const signed = new Map<string, string>()
        for (const [kind, wish] of asked) {
          const bytes = kind === "vertex" ? Statements.vertex(wish) : Statements.checkpoint(wish)
          const verdict = judged(memory, bytes)
          if (verdict._tag === "Remember") memory = Judge.remember(memory, verdict.change)
          if (verdict._tag === "Refuse") continue
          const slot = `${kind} ${wish.epoch} ${wish.round}`
          const digest = sha256Hex(bytes)
          expect(signed.get(slot) ?? digest).toBe(digest)
          signed.set(slot, digest)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe("a signer's judgement of the rest", () => {
  it("takes one checkpoint for a place, in any order, and those it has signed again", () => {
    const later = remembered(start, Statements.checkpoint({ round: 20 }))
    const both = remembered(later, Statements.checkpoint({ round: 10 }))
    expect(judged(both, Statements.checkpoint({ round: 20 }))).toEqual({ _tag: "Sign" })
    expect(judged(both, Statements.checkpoint({ round: 10 }))).toEqual({ _tag: "Sign" })
    expect(judged(both, Statements.checkpoint({ round: 10, variant: 2 }))).toEqual(TAKEN)
  })

  it("keeps a bounded number of checkpoints, and signs none below those", () => {
    let memory = start
    for (let round = 2; round < 2 * Judge.MAX_CHECKPOINTS; round++) {
      memory = remembered(memory, Statements.checkpoint({ round }))
    }
    expect(memory.checkpoints.length).toBe(Judge.MAX_CHECKPOINTS)
    expect(judged(memory, Statements.checkpoint({ round: 1 }))).toEqual(TAKEN)
    expect(judged(memory, Statements.checkpoint({ round: 2, variant: 2 }))).toEqual(TAKEN)
  })

  it("proves the key for the node that asks, on its network, and for nobody else", () => {
    expect(judged(null, greeting(genesisHash, node))).toEqual({ _tag: "Sign" })
    expect(judged(start, greeting(Statements.hashOf(78), node))).toEqual({
      _tag: "Refuse",
      refusal: "it is for another network",
    })
    expect(judged(start, greeting(genesisHash, "m".repeat(64)))).toEqual({
      _tag: "Refuse",
      refusal: "it proves the key for a node other than the one that asks",
    })
  })

  it("signs no transaction, and nothing that it cannot read whole", () => {
    const refusal = { _tag: "Refuse", refusal: "it is not a statement of a validator" }
    const whole = Statements.vertex()
    const transaction = Hash.tagged(Binary.utf8("udg/tx\0"), [whole.subarray(11)])
    const longer = Binary.encode((writer) => writer.raw(whole).u8(0))
    for (const bytes of [new Uint8Array(), transaction, longer, whole.subarray(0, -1), whole.subarray(1)]) {
      expect(judged(start, bytes)).toEqual(refusal)
    }
    expect(judged(start, new Uint8Array(Statement.MAX_BYTES + 1))).toEqual(refusal)
  })

  it("reads every header, checkpoint and heartbeat that the protocol knows as what it is", () => {
    fc.assert(
      fc.property(Arbitraries.header, (header) => {
        const { base, epoch, round, publicKey } = header
        expect(Statement.read(Header.signedBytes(header))).toEqual({ _tag: "Vertex", base, epoch, round, publicKey })
        expect(Either.isRight(Header.signedContent(Header.signedBytes(header)))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})
