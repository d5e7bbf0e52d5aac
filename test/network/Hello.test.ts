import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Hello from "../../src/network/Hello.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as arbitrary from "../protocol/arbitraries.js"
import { itObeysTheLawsOfACodec } from "../protocol/codecLaws.js"
import { slowSigner } from "./attacks/Ammunition.js"

itObeysTheLawsOfACodec("hellos", {
  values: fc.record({
    version: fc.nat(65_535),
    networkId: arbitrary.networkId,
    genesisHash: arbitrary.hash,
    agent: arbitrary.text(64),
    port: fc.nat(65_535),
    challenge: arbitrary.hash,
  }),
  encode: Hello.encode,
  decode: Hello.decode,
})

itObeysTheLawsOfACodec("proofs of a validator's key", {
  values: fc.option(fc.record({ publicKey: arbitrary.publicKey, signature: arbitrary.signature })),
  encode: Hello.encodeProof,
  decode: Hello.decodeProof,
})

const hello = (changes: Partial<Hello.Hello> = {}): Hello.Hello => ({
  version: Hello.PROTOCOL_VERSION,
  networkId: "udg-hello" as NetworkId,
  genesisHash: "11".repeat(32) as Hash,
  agent: "udg/0",
  port: 9333,
  challenge: Hello.drawChallenge(),
  ...changes,
})

const judged = (theirs: Hello.Hello) => Hello.judge(hello(), Hello.encode(theirs))

describe("a hello", () => {
  it("of the same network and version is accepted", () => {
    const theirs = hello({ port: 1 })
    expect(judged(theirs)).toEqual(Either.right(theirs))
  })

  it("of another network names it", () => {
    const reason = Either.flip(judged(hello({ genesisHash: "22".repeat(32) as Hash, networkId: "other" as NetworkId })))
    expect(Either.getOrThrow(reason)).toMatch(/on network other \(genesis 22.*this node is on udg-hello \(genesis 11/)
  })

  it("of another version is recognized, in any later format", () => {
    const reason = Either.getOrThrow(Either.flip(Hello.judge(hello(), Uint8Array.of(7, 0, 99))))
    expect(reason).toBe(`it speaks version 7 of the protocol, this node speaks version ${Hello.PROTOCOL_VERSION}`)
    expect(Either.isLeft(Hello.judge(hello(), Uint8Array.of()))).toBe(true)
    expect(Either.isLeft(Hello.judge(hello(), Uint8Array.of(Hello.PROTOCOL_VERSION, 0, 99)))).toBe(true)
  })
})

describe("a proof of a validator's key", () => {
  const key = SecretKey.generate()
  const own = hello()
  const ends = { prover: "aa", verifier: "bb" }

  it("is valid for the challenge it answers, on that connection", () => {
    expect(Hello.validatorOf(own, ends, Hello.prove(own, ends, key))).toBe(Address.fromPublicKey(key.publicKey))
  })

  it("costs one native check, from any peer", () => {
    const slow = slowSigner()
    expect(Hello.validatorOf(own, ends, Hello.prove(own, ends, slow))).toBeNull()
  })

  it("is worthless to other nodes, at other times, or under another key", () => {
    const proof = Hello.prove(own, ends, key)
    const other = SecretKey.generate().publicKey
    expect(Hello.validatorOf(hello(), ends, proof)).toBeNull()
    expect(Hello.validatorOf({ ...own, genesisHash: "22".repeat(32) as Hash }, ends, proof)).toBeNull()
    expect(Hello.validatorOf(own, { ...ends, prover: "cc" }, proof)).toBeNull()
    expect(Hello.validatorOf(own, { ...ends, verifier: "cc" }, proof)).toBeNull()
    expect(Hello.validatorOf(own, ends, { ...proof, publicKey: other })).toBeNull()
    expect(Hello.validatorOf(own, { ...ends, prover: "" }, proof)).toBeNull()
  })
})
