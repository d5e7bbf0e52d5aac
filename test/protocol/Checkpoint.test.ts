import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

itObeysTheLawsOfACodec("checkpoints", {
  values: arbitrary.checkpoint,
  encode: Checkpoint.encode,
  decode: Checkpoint.decode,
})

itObeysTheLawsOfACodec("signed checkpoints", {
  values: arbitrary.signedCheckpoint,
  encode: Checkpoint.encodeSigned,
  decode: Checkpoint.decodeSigned,
})

describe("a checkpoint", () => {
  it("is signed over its content, and its hash does not depend on the signers", () => {
    fc.assert(
      fc.property(arbitrary.checkpoint, arbitrary.checkpoint, arbitrary.secretKey, (checkpoint, other, key) => {
        const { validator, signature } = Checkpoint.sign(checkpoint, key)
        const member = { address: validator, publicKey: key.publicKey, weight: checkpoint.totalSupply }
        expect(Verification.isValid(Checkpoint.check(checkpoint, member, signature))).toBe(true)
        expect(Verification.isStrictlyValid(Checkpoint.check(other, member, signature))).toBe(false)
      }),
      { numRuns: 10 },
    )
  })

  it("closes its epoch if and only if it carries the next one", () => {
    fc.assert(
      fc.property(arbitrary.checkpoint, arbitrary.epochRecord, (checkpoint, nextEpoch) => {
        expect(Checkpoint.isClosing({ ...checkpoint, nextEpoch })).toBe(true)
        expect(Checkpoint.isClosing({ ...checkpoint, nextEpoch: null })).toBe(false)
      }),
      { numRuns: 20 },
    )
  })

  it("carries its signatures in the order of the validators, each once", () => {
    fc.assert(
      fc.property(
        arbitrary.signedCheckpoint.filter(({ signatures }) => signatures.length > 1),
        ({ checkpoint, signatures }) => {
          const [first] = signatures
          if (first === undefined) throw new Error("no signature")
          for (const disordered of [[...signatures].reverse(), [first, first]]) {
            const bytes = Checkpoint.encodeSigned({ checkpoint, signatures: disordered })
            const error = Option.getOrThrow(Either.getLeft(Checkpoint.decodeSigned(bytes)))
            expect(error.what).toBe("signed checkpoint")
            expect(error.reason).toBe("signatures not in the order of their validators")
          }
        },
      ),
      { numRuns: 20 },
    )
  })
})
