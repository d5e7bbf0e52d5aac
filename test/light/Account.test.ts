import { Either, FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import * as Account from "../../src/light/checks/Account.js"
import * as Answer from "../../src/light/checks/Answer.js"
import type { Trusted } from "../../src/light/checks/Trusted.js"
import type * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Name from "../../src/protocol/identity/Name.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import * as arbitraries from "../protocol/arbitraries.js"
import * as History from "./History.js"

const history = History.make({ last: 3 })
const closing = history.closing[2]?.checkpoint ?? null
const trusted: Trusted = { committee: history.committeeOf(4), closing }
const alice = History.addressOf("alice")
const honest = History.accountJson(alice, history.running)

const named = (text: string): Address.Reference => {
  if (!Name.isName(text)) throw new Error("a name expected")
  return { _tag: "Name", name: text }
}
const byAddress = (address = alice): Address.Reference => ({ _tag: "Address", address })

/** The whole path of a response, from its bytes to what it proves. */
const judged = (bytes: Uint8Array, wanted = byAddress()) =>
  Either.gen(function* () {
    const claim = yield* Answer.account(bytes)
    const consistent = yield* Account.consistent(wanted, claim)
    yield* Account.recent(100, consistent.signed)
    return yield* Account.proven(trusted, consistent, FakeKeys.isValid)
  })

const provenBy = (json: unknown, wanted?: Address.Reference) => Either.getOrThrow(judged(History.bytesOf(json), wanted))

const tagOf = (json: unknown, wanted?: Address.Reference): string =>
  Either.match(judged(History.bytesOf(json), wanted), { onLeft: ({ _tag }) => _tag, onRight: () => "proven" })

describe("an account response", () => {
  it("proves the state's contents, and its signers", () => {
    expect(provenBy(honest)).toEqual({
      address: alice,
      account: History.alice,
      checkpoint: history.running.checkpoint,
      signed: { by: 6, of: 6 },
    })
  })

  it("proves the absence of an account", () => {
    const nobody = History.addressOf("nobody")
    expect(provenBy(History.accountJson(nobody, history.running), byAddress(nobody)).account).toEqual(
      AccountRecord.empty,
    )
  })

  it("proves the owner of a name, but not for a request for another name", () => {
    expect(tagOf(honest, named("alice"))).toBe("proven")
    expect(tagOf(honest, named("mallory"))).toBe("OtherName")
    const other = History.accountJson(History.addressOf("other 3"), history.running)
    expect(tagOf(other, named("alice"))).toBe("OtherName")
  })

  it("proves which nonces are used", () => {
    const proven = provenBy(honest)
    expect([6, 7].map((nonce) => Account.hasUsed(proven, Natural.nonce(nonce)))).toEqual([true, false])
  })

  it("counts only the signers with valid signatures", () => {
    const five = History.resigned(history.running, (list) => list.slice(1))
    expect(provenBy(History.accountJson(alice, five))).toMatchObject({ signed: { by: 5, of: 6 } })
  })

  it("proves by the trusted checkpoint itself, regardless of its signers", () => {
    const last = history.closing[2]
    if (last === undefined) throw new Error("three expected")
    const unsigned = History.resigned(last, () => [])
    expect(provenBy(History.accountJson(alice, unsigned))).toMatchObject({ account: History.alice, signed: null })
  })

  it("accepts fields that a later version may add", () => {
    expect(tagOf({ ...honest, later: 1 })).toBe("proven")
  })
})

describe("an account response is refused", () => {
  const { siblings, leaf } = honest["proof"] as {
    readonly siblings: ReadonlyArray<{ readonly hash: string; readonly records: number }>
    readonly leaf: ReadonlyArray<{ readonly key: string; readonly value: string }>
  }
  const more = siblings.map((each) => ({ ...each, records: each.records + 1 }))

  it.each<[string, unknown, string]>([
    ["of another account", History.accountJson(History.addressOf("other 1"), history.running), "OtherAnswer"],
    ["of another key", { ...honest, key: Hash.ZERO }, "FalseProof"],
    // A proof for another address would show an account with coins as empty.
    [
      "with the proof that somebody else has no account",
      { ...History.accountJson(History.addressOf("nobody"), history.running), address: alice },
      "FalseProof",
    ],
    ["from another state", History.accountJson(alice, history.running, History.richTrie), "FalseProof"],
    ["with another record beside the proof", { ...honest, record: "01" }, "FalseProof"],
    ["with no record beside the proof", { ...honest, record: null }, "FalseProof"],
    ["without a leaf", { ...honest, proof: { siblings, leaf: [] } }, "FalseProof"],
    ["without siblings", { ...honest, proof: { siblings: [], leaf } }, "FalseProof"],
    ["with more records beside its path", { ...honest, proof: { siblings: more, leaf } }, "FalseProof"],
    ["that is too old", History.accountJson(alice, History.make({ last: 1 }).running), "Stale"],
    ["of a later epoch than the trusted", History.accountJson(alice, History.make({ last: 4 }).running), "Unsigned"],
    [
      "signed by too few",
      History.accountJson(
        alice,
        History.resigned(history.running, (list) => list.slice(2)),
      ),
      "Unsigned",
    ],
    [
      "signed by a committee of before",
      History.accountJson(alice, History.make({ last: 3, signedAs: (epoch) => (epoch === 4 ? 2 : epoch) }).running),
      "Unsigned",
    ],
    [
      "whose checkpoint follows another one",
      History.accountJson(alice, History.make({ last: 3, story: "theirs", from: 2 }).running),
      "Detached",
    ],
    ["that is no object", [], "Malformed"],
    ["that lacks its checkpoint", { ...honest, checkpoint: null }, "Malformed"],
  ])("%s", (_, json, tag) => {
    expect(tagOf(json)).toBe(tag)
  })

  it("where any digit of it differs, except for one signature of six", () => {
    const text = JSON.stringify(honest)
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(text.length - 1), FastCheck.constantFrom(..."0123456789abcdef"), (at, digit) => {
        const changed = text.slice(0, at) + digit + text.slice(at + 1)
        const outcome = judged(new TextEncoder().encode(changed))
        if (changed === text || Either.isLeft(outcome)) return
        expect(outcome.right).toMatchObject({ account: History.alice, signed: { by: 5, of: 6 } })
      }),
      { numRuns: 400 },
    )
  })
})

describe("a checkpoint response", () => {
  const [signed] = history.closing
  if (signed === undefined) throw new Error("three expected")
  const json = History.checkpointJson(signed)
  const next = json["next_epoch"] as { readonly members: ReadonlyArray<object>; readonly rules: object }
  const reasonOf = (json: unknown): string =>
    Either.match(Answer.checkpoint(History.bytesOf(json)), { onLeft: ({ reason }) => reason, onRight: () => "read" })

  it("is read as it was signed", () => {
    FastCheck.assert(
      FastCheck.property(arbitraries.signedCheckpoint, (signed) => {
        const read = Answer.checkpoint(History.bytesOf(History.checkpointJson(signed)))
        expect(Either.getOrThrow(read)).toEqual(signed)
      }),
      { numRuns: 50 },
    )
  })

  it("is within the documented limits, with every field at its longest", () => {
    const [address, hash, weight] = ["f".repeat(40), "f".repeat(64), 2_100_000_000_000_000]
    const members = Array.from({ length: 100 }, () => ({ address, pub_key: hash, weight }))
    const signatures = Array.from({ length: 100 }, () => ({ validator: address, signature: "f".repeat(128) }))
    const longest = { ...json, next_epoch: { ...next, members }, signatures }
    expect(History.bytesOf(longest).length).toBeLessThan(Answer.CHECKPOINT_BYTES)
    const record = "f".repeat(16_384)
    const proof = {
      siblings: Array.from({ length: 251 }, () => ({ hash, records: Number.MAX_SAFE_INTEGER })),
      leaf: Array.from({ length: 32 }, () => ({ key: hash, value: record })),
    }
    const account = History.bytesOf({ ...honest, record, proof, checkpoint: longest })
    expect(account.length).toBeLessThan(Answer.ACCOUNT_BYTES)
    // As stated in docs/light-client.md.
    expect([Answer.CHECKPOINT_BYTES, Answer.ACCOUNT_BYTES]).toEqual([71_296, 686_944])
  })

  it.each<[string, unknown, string]>([
    ["a hash of something else", { ...json, hash: Hash.ZERO }, "hash: does not match the content"],
    ["another content than its hash", { ...json, round: 41 }, "hash: does not match the content"],
    [
      "the address of another key",
      { ...json, next_epoch: { ...next, members: next.members.map((it) => ({ ...it, address: "00".repeat(20) })) } },
      "next_epoch.members: an address does not match its key",
    ],
    [
      "signatures out of order",
      { ...json, signatures: [...signed.signatures].reverse() },
      "signatures not in the order of their validators",
    ],
    [
      "one signer twice",
      { ...json, signatures: signed.signatures.flatMap((it) => [it, it]) },
      "signatures not in the order of their validators",
    ],
    [
      "more signatures than seats",
      { ...json, signatures: Array.from({ length: 101 }, () => signed.signatures[0]) },
      "a list of 101, but at most 100",
    ],
    ["a committee without members", { ...json, next_epoch: { ...next, members: [] } }, "a committee without members"],
    [
      "an epoch longer than its field holds",
      { ...json, next_epoch: { ...next, rules: { ...next.rules, epoch_rounds: 2 ** 32 } } },
      "rules that no epoch can have",
    ],
    [
      "a version before the first",
      { ...json, next_epoch: { ...next, rules: { ...next.rules, protocol_version: 1 } } },
      "rules that no epoch can have",
    ],
    ["a number in quotes", { ...json, epoch: "1" }, "epoch: "],
  ])("is refused with %s", (_, json, reason) => {
    expect(reasonOf(json)).toContain(reason)
  })

  it("is refused as bytes that are not UTF-8, not JSON, or nested deep", () => {
    const tagOf = (bytes: Uint8Array) => Either.getOrThrow(Either.flip(Answer.checkpoint(bytes)))._tag
    const text = (text: string) => new TextEncoder().encode(text)
    const garbage = [
      Uint8Array.of(0xff, 0xfe),
      new Uint8Array(),
      text("<html>"),
      text("[".repeat(20_000)),
      text("[".repeat(20_000) + "]".repeat(20_000)),
    ]
    expect(garbage.map(tagOf)).toEqual(garbage.map(() => "Malformed"))
  })
})
