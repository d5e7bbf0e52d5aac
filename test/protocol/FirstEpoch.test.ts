import { createHash } from "node:crypto"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as FirstEpoch from "../../src/protocol/epoch/FirstEpoch.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as arbitrary from "./arbitraries.js"

/** H("udg/seed", previous seed ‖ closing commit hash), computed without our code. */
const seedAfter = (previous: string, closing: string): string =>
  createHash("sha256")
    .update("udg/seed\0")
    .update(Buffer.from(previous + closing, "hex"))
    .digest("hex")

describe("the first epoch", () => {
  it("has the genesis' validators, rules and hash, the same on every node", () => {
    fc.assert(
      fc.property(arbitrary.genesis, (genesis) => {
        const { protocol, parameters, validators } = genesis
        const hash = Genesis.hash(genesis)
        const members = validators.map(({ publicKey, stake }) => {
          return [Address.fromPublicKey(publicKey), { publicKey, weight: stake }] as const
        })
        const addresses = members.map(([address]) => address).sort()
        const record = FirstEpoch.of(genesis)
        expect(record).toStrictEqual({
          epoch: 1,
          firstRound: 1,
          seed: seedAfter(hash, hash),
          rules: {
            epochRounds: protocol.epochRounds,
            protocolVersion: 2,
            collectionDepthRounds: protocol.collectionDepthRounds,
            checkpointIntervalRounds: parameters.checkpointIntervalRounds,
            roundReward: protocol.roundReward,
            halvingRounds: protocol.halvingRounds,
            treasuryPercent: parameters.treasuryPercent,
            councilPercent: parameters.councilPercent,
          },
          members: addresses.map((address) => ({ address, ...new Map(members).get(address) })),
        })
        expect(EpochRecord.made(record)).toBe(record)
      }),
    )
  })

  it("precedes epochs with a seed from the previous seed and the closing commit", () => {
    fc.assert(
      fc.property(arbitrary.hash, arbitrary.hash, (previous, closing) => {
        expect(FirstEpoch.nextSeed(previous, closing)).toBe(seedAfter(previous, closing))
      }),
    )
  })
})
