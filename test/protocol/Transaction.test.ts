import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Operation from "../../src/protocol/transaction/Operation.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

const network = "udg-test" as NetworkId
const otherNetwork = "udg-test-2" as NetworkId
const alice = Option.getOrThrow(SecretKey.fromHex("a1".repeat(32)))

const transfer = (changes: Partial<Transaction.Unsigned> = {}): Transaction.Unsigned => ({
  from: Address.fromPublicKey(alice.publicKey),
  nonce: Natural.nonce(7),
  fee: Sats.make(1_000),
  operation: { _tag: "Transfer", to: Address.fromPublicKey(alice.publicKey), amount: Sats.make(5), memo: "" },
  ...changes,
})

const codecOf = (values: fc.Arbitrary<Transaction.Transaction>) => ({
  values,
  encode: (transaction: Transaction.Transaction) =>
    Transaction.make(network, transaction, transaction.authorization).encoded,
  decode: (bytes: Uint8Array) => Transaction.decode(network, bytes),
})

itObeysTheLawsOfACodec("transactions", codecOf(arbitrary.transaction(network)))

describe("a transaction", () => {
  it.each(Object.entries(arbitrary.operationOf))(
    "of type %s survives encoding and decoding in both forms",
    (type, operation) => {
      for (const authorization of [arbitrary.singleKey, arbitrary.policySigned]) {
        const values = arbitrary.transaction(network, { unsigned: arbitrary.unsignedOf(operation), authorization })
        fc.assert(
          fc.property(values, (transaction) => {
            expect(transaction.operation._tag).toBe(type)
            expect(Either.getOrThrow(Transaction.decode(network, transaction.encoded))).toStrictEqual(transaction)
          }),
          { numRuns: 50 },
        )
      }
    },
  )

  it("begins with its type byte, which no other type has", () => {
    expect(new Set(Object.values(Operation.TYPE_BYTE)).size).toBe(11)
    fc.assert(
      fc.property(arbitrary.transaction(network), ({ encoded, operation }) => {
        expect(encoded[0]).toBe(Operation.TYPE_BYTE[operation._tag])
      }),
    )
  })

  it("has an id independent of its signatures", () => {
    fc.assert(
      fc.property(arbitrary.unsigned, arbitrary.authorization, arbitrary.authorization, (unsigned, first, second) => {
        const id = Transaction.idOf(network, unsigned)
        expect(Transaction.make(network, unsigned, first).id).toBe(id)
        expect(Transaction.make(network, unsigned, second).id).toBe(id)
      }),
    )
  })

  it("has another id and other signed bytes on another network", () => {
    const here = Transaction.sign(network, transfer(), alice)
    const there = Transaction.sign(otherNetwork, transfer(), alice)
    expect(there.id).not.toBe(here.id)
    expect(there.authorization).not.toEqual(here.authorization)
    const replayed = Either.getOrThrow(Transaction.decode(otherNetwork, here.encoded))
    expect(Verification.checksOf(otherNetwork, replayed).every(Verification.isValid)).toBe(false)
  })

  it("separates the network's name from the transaction in its signed bytes", () => {
    fc.assert(
      fc.property(arbitrary.networkId, arbitrary.networkId, arbitrary.unsigned, (a, b, unsigned) => {
        const same = Buffer.from(Transaction.signedBytes(a, unsigned)).equals(Transaction.signedBytes(b, unsigned))
        expect(same).toBe(a === b)
      }),
    )
  })

  it("returns from its encoding exactly the bytes its keys signed", () => {
    fc.assert(
      fc.property(arbitrary.networkId, arbitrary.unsigned, arbitrary.authorization, (id, unsigned, authorization) => {
        const transaction = Transaction.make(id, unsigned, authorization)
        expect(Transaction.bytesUnderSignature(id, transaction)).toStrictEqual(Transaction.signedBytes(id, unsigned))
      }),
    )
  })

  it("does not keep alive the frame it was decoded from", () => {
    const { encoded } = Transaction.sign(network, transfer(), alice)
    const frame = new Uint8Array(1_000_000)
    frame.set(encoded, 5_000)
    const decoded = Either.getOrThrow(Transaction.decode(network, frame.subarray(5_000, 5_000 + encoded.length)))
    expect(decoded.encoded.buffer.byteLength).toBe(encoded.length)
  })

  it("cannot be made with an unsigned policy authorization, which would read as the single-key form", () => {
    expect(() => Transaction.make(network, transfer(), { _tag: "Policy", signatures: [] })).toThrow(
      new RangeError("a policy authorization without a signature"),
    )
  })
})

describe("an authorization", () => {
  const [first, second] = ["b1", "b2"].map((byte) => {
    const key = Option.getOrThrow(SecretKey.fromHex(byte.repeat(32)))
    return Transaction.cosign(network, transfer(), key)
  })
  if (first === undefined || second === undefined) throw new Error("two signatures expected")
  const policy = (...signatures: ReadonlyArray<Transaction.KeySignature>) => ({ _tag: "Policy", signatures }) as const

  it("equals another only with the same signatures by the same keys, in the same form and order", () => {
    const all: ReadonlyArray<Transaction.Authorization> = [
      { _tag: "SingleKey", ...first },
      policy(first),
      policy(first, second),
      policy(second, first),
      policy({ ...first, publicKey: second.publicKey }),
      policy({ ...first, signature: second.signature }),
      policy(first, { ...second, publicKey: first.publicKey }),
      policy(first, { ...second, signature: first.signature }),
    ]
    for (const one of all) {
      const same = all.filter((other) => Transaction.isSameAuthorization(one, structuredClone(other)))
      expect(same).toEqual([one])
    }
  })
})

describe("one of several consecutively encoded transactions", () => {
  const joined = (transactions: ReadonlyArray<Transaction.Transaction>): Uint8Array =>
    Uint8Array.from(Buffer.concat(transactions.map(({ encoded }) => encoded)))

  it("is decoded by its position, independently of its neighbours", () => {
    fc.assert(
      fc.property(fc.array(arbitrary.transaction(network), { minLength: 1, maxLength: 5 }), (transactions) => {
        const bytes = joined(transactions)
        const decoded = transactions.map((_, i) => Either.getOrThrow(Transaction.decodeNth(network, bytes, i)))
        expect(decoded).toStrictEqual(transactions)
      }),
      { numRuns: 30 },
    )
  })

  const two = [0, 1].map((nonce) => Transaction.sign(network, transfer({ nonce: Natural.nonce(nonce) }), alice))
  const tooFew = `transaction: expected 1 bytes, 0 left at byte ${joined(two).length}`

  it("is refused beyond the last one", () => {
    const refused = Option.getOrThrow(Either.getLeft(Transaction.decodeNth(network, joined(two), 2)))
    expect(refused.message).toBe(tooFew)
  })

  it("is decoded with all those before it", () => {
    const first = (count: number) => Transaction.decodeFirst(network, joined(two), count)
    expect([0, 1, 2].map((count) => Either.getOrThrow(first(count)))).toStrictEqual([[], two.slice(0, 1), two])
    expect(Option.getOrThrow(Either.getLeft(first(3))).message).toBe(tooFew)
  })
})

describe("a transaction's bytes are refused when", () => {
  const { encoded } = Transaction.sign(network, transfer(), alice)
  const patched = (offset: number, ...values: ReadonlyArray<number>): Uint8Array => {
    const bytes = encoded.slice()
    bytes.set(values, offset)
    return bytes
  }
  const count = encoded.length - 97
  const proof = encoded.subarray(count + 1)
  const withProofs = (announced: number, ...proofs: ReadonlyArray<Uint8Array>): Uint8Array =>
    Uint8Array.from(Buffer.concat([encoded.subarray(0, count), Uint8Array.of(announced), ...proofs]))

  it.each<[string, Uint8Array, string]>([
    ["they are none", new Uint8Array(0), "expected 1 bytes, 0 left at byte 0"],
    ["the type is 0", patched(0, 0), "transaction type 0"],
    ["the type is 12", patched(0, 12), "transaction type 12"],
    ["the nonce is 2^53", patched(21, 0, 0, 0, 0, 0, 0, 0x20, 0), "integer above 2^53 - 1"],
    ["the fee is above the maximum supply", patched(29, ...new Array(6).fill(0xff), 0x1f, 0), "maximum supply"],
    ["the amount is 0", patched(57, 0), "amount must be at least 1"],
    ["the memo is longer than its bytes", patched(65, 0xff, 0), "expected 255 bytes"],
    ["the memo is over its limit", patched(65, 1, 1), "text of 257 bytes, at most 256 allowed"],
    ["there are 17 signatures", withProofs(17, ...new Array(17).fill(proof)), "list of 17, at most 16 allowed"],
    ["a key signs twice", withProofs(2, proof, proof), "two signatures of one key"],
    ["a byte trails", Uint8Array.from([...encoded, 0]), "1 trailing bytes"],
    ["the last byte is missing", encoded.subarray(0, -1), "expected 64 bytes, 63 left"],
  ])("%s", (_, bytes, reason) => {
    const error = Option.getOrThrow(Either.getLeft(Transaction.decode(network, bytes)))
    expect([error._tag, error.what]).toEqual(["MalformedBytes", "transaction"])
    expect(error.message).toContain(reason)
  })
})
