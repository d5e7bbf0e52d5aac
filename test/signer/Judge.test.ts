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

const TAKEN = { _tag: "Refuse", refusal: "the key has signed this round or a later one" }

const greeting = (genesis: Hash.Hash, prover: string): Uint8Array =>
  Hash.tagged(Binary.utf8("udg/peer\0"), [
    Binary.encode((writer) => writer.hex(genesis).hex(Hash.ZERO).text8(prover).text8("v".repeat(64))),
  ])

describe("what a signer allows a key to sign", () => {
  it("signs vertices in order, and repeats the signature of the latest one", () => {
    const memory = remembered(start, Statements.vertex({ round: 5 }))
    expect(judged(memory, Statements.vertex({ round: 5 }))).toEqual({ _tag: "Sign" })
    expect(judged(memory, Statements.vertex({ round: 6 }))._tag).toBe("Remember")
    expect(judged(memory, Statements.vertex({ epoch: 2, round: 1, base: 2 }))._tag).toBe("Remember")
  })

  it("refuses a second vertex for a slot, and every earlier round", () => {
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

  it("signs nothing with the record of a copy, until the operator names a place at or above its end", () => {
    const known = remembered(remembered(start, Statements.vertex({ round: 5 })), Statements.checkpoint({ round: 9 }))
    const copy = { ...known, isRestored: true }
    const refusal =
      "the signer's directory is a copy, which lacks what was signed later: state a round with udg signer sign-from"
    for (const bytes of [Statements.vertex({ round: 5 }), Statements.vertex({ round: 9 }), Statements.checkpoint()]) {
      expect(judged(copy, bytes)).toEqual({ _tag: "Refuse", refusal })
    }
    expect(judged(copy, Statements.heartbeat())).toEqual({ _tag: "Sign" })
    expect(Judge.mayVouch(copy, placeOf(1, 4))).toBe(false)
    expect(Judge.mayVouch(copy, placeOf(1, 5))).toBe(true)
    expect(Judge.mayVouch(known, placeOf(1, 5))).toBe(false)
    const vouched = Judge.vouched(copy, placeOf(1, 7))
    expect(judged(vouched, Statements.vertex({ round: 7 }))).toEqual(TAKEN)
    expect(judged(vouched, Statements.vertex({ round: 8 }))._tag).toBe("Remember")
    expect(judged(vouched, Statements.checkpoint({ round: 7 }))).toEqual(TAKEN)
    expect(judged(vouched, Statements.checkpoint({ round: 8 }))._tag).toBe("Remember")
    expect(judged(vouched, Statements.checkpoint({ round: 9 }))).toEqual({ _tag: "Sign" })
    expect(judged(vouched, Statements.checkpoint({ round: 9, variant: 2 }))).toEqual(TAKEN)
  })

  it("takes a node's word for where the key has signed, but only upwards", () => {
    const memory = remembered(start, Statements.vertex({ round: 5 }))
    expect(Judge.told(memory, placeOf(1, 5))).toBe(memory)
    expect(Judge.told(memory, placeOf(1, 4))).toBe(memory)
    const raised = Judge.told(memory, placeOf(1, 9))
    expect(judged(raised, Statements.vertex({ round: 9 }))).toEqual(TAKEN)
    expect(judged(raised, Statements.vertex({ round: 5 }))).toEqual(TAKEN)
    expect(judged(raised, Statements.vertex({ round: 10 }))._tag).toBe("Remember")
    expect(Judge.told({ ...memory, isRestored: true }, placeOf(1, 9)).isRestored).toBe(true)
  })

  it("signs at the highest epoch and round, and then nothing more", () => {
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

  it("never signs two statements for one slot, in any order of requests", () => {
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

describe("how a signer treats checkpoints, identity proofs and other bytes", () => {
  it("signs one checkpoint per round, in any order, and repeats its signatures", () => {
    const later = remembered(start, Statements.checkpoint({ round: 20 }))
    const both = remembered(later, Statements.checkpoint({ round: 10 }))
    expect(judged(both, Statements.checkpoint({ round: 20 }))).toEqual({ _tag: "Sign" })
    expect(judged(both, Statements.checkpoint({ round: 10 }))).toEqual({ _tag: "Sign" })
    expect(judged(both, Statements.checkpoint({ round: 10, variant: 2 }))).toEqual(TAKEN)
  })

  it("keeps a limited number of checkpoints, and refuses older ones", () => {
    let memory = start
    for (let round = 2; round < 2 * Judge.MAX_CHECKPOINTS; round++) {
      memory = remembered(memory, Statements.checkpoint({ round }))
    }
    expect(memory.checkpoints.length).toBe(Judge.MAX_CHECKPOINTS)
    expect(judged(memory, Statements.checkpoint({ round: 1 }))).toEqual(TAKEN)
    expect(judged(memory, Statements.checkpoint({ round: 2, variant: 2 }))).toEqual(TAKEN)
  })

  it("proves the key only to the node that asks, and only on its own network", () => {
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

  it("refuses transactions, truncated statements and trailing bytes", () => {
    const refusal = { _tag: "Refuse", refusal: "it is not a statement of a validator" }
    const whole = Statements.vertex()
    const transaction = Hash.tagged(Binary.utf8("udg/tx\0"), [whole.subarray(11)])
    const longer = Binary.encode((writer) => writer.raw(whole).u8(0))
    for (const bytes of [new Uint8Array(), transaction, longer, whole.subarray(0, -1), whole.subarray(1)]) {
      expect(judged(start, bytes)).toEqual(refusal)
    }
    expect(judged(start, new Uint8Array(Statement.MAX_BYTES + 1))).toEqual(refusal)
  })

  it("parses every header, checkpoint and heartbeat of the protocol", () => {
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
