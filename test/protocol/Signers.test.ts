import { describe, expect, it } from "vitest"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Signers from "../../src/protocol/epoch/Signers.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import * as TestCommittee from "../consensus/TestCommittee.js"

const record = TestCommittee.recordOf([10, 10, 10, 30])
const checkpoint = Checkpoint.make({
  epoch: record.epoch,
  round: Natural.round(20),
  commitIndex: Natural.commitIndex(18),
  commitHash: TestCommittee.seedOf("commit"),
  effectsDigest: Hash.ZERO,
  stateRoot: Hash.ZERO,
  totalSupply: Sats.make(1),
  nextEpoch: null,
  previous: Hash.ZERO,
})
const signed = record.members.map(({ publicKey }) =>
  Checkpoint.sign(checkpoint, { publicKey, sign: FakeKeys.signWith(publicKey) }),
)

/** The places of the signers found, and the number of signatures verified to find them. */
const found = (signatures: Checkpoint.SignedCheckpoint["signatures"]) => {
  let verified = 0
  const quorum = Signers.quorumOf(record, { checkpoint, signatures }, (check) => {
    verified++
    return FakeKeys.isValid(check)
  })
  return { places: quorum?.map((member) => record.members.indexOf(member)), verified }
}

const [a, b, c, d] = signed
if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error("four expected")

describe("the signers of a checkpoint", () => {
  it("are a quorum with more than two thirds of the weight, at any number", () => {
    expect(found(signed)).toEqual({ places: [0, 1, 2, 3], verified: 4 })
    expect(found([b, c, d])).toEqual({ places: [1, 2, 3], verified: 3 })
    expect(found([c, d])).toEqual({ places: undefined, verified: 0 })
    expect(found([a, b, c])).toEqual({ places: undefined, verified: 0 })
  })

  it("exclude a false signature, which ends the search once no quorum is left", () => {
    const wrong = { ...a, signature: b.signature }
    expect(found([wrong, b, c, d])).toEqual({ places: [1, 2, 3], verified: 4 })
    expect(found([wrong, { ...b, signature: a.signature }, c, d])).toEqual({ places: undefined, verified: 2 })
  })

  it("are members, each once, regardless of other signatures", () => {
    const stranger = { validator: TestCommittee.keysOf(7)[0]?.address ?? a.validator, signature: a.signature }
    expect(found([b, c, d, stranger])).toEqual({ places: [1, 2, 3], verified: 3 })
    expect(found([c, c, c, d])).toEqual({ places: undefined, verified: 0 })
  })
})
