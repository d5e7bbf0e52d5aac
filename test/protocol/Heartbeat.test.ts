import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

itObeysTheLawsOfACodec("heartbeats", {
  values: arbitrary.heartbeat,
  encode: Heartbeat.encode,
  decode: Heartbeat.decode,
})

describe("a heartbeat", () => {
  it("is signed by the validator, for one commit only", () => {
    fc.assert(
      fc.property(
        arbitrary.secretKey,
        arbitrary.counter(2 ** 40),
        arbitrary.hash,
        arbitrary.hash,
        (key, i, hash, other) => {
          const heartbeat = Heartbeat.sign(i as Heartbeat.Heartbeat["commitIndex"], hash, key)
          expect(heartbeat.validator).toBe(Address.fromPublicKey(key.publicKey))
          expect(Verification.isValid(Heartbeat.check(heartbeat))).toBe(true)
          expect(Verification.isStrictlyValid(Heartbeat.check({ ...heartbeat, commitHash: other }))).toBe(false)
        },
      ),
      { numRuns: 10 },
    )
  })
})
