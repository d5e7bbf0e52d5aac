import { createHash } from "node:crypto"
import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import * as StateRecord from "../../src/protocol/state/StateRecord.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

const kinds = Object.entries(StateKey.KINDS) as ReadonlyArray<
  [StateKey.Kind, { readonly byte: number; readonly keyBytes: number; readonly counterAt: number | null }]
>

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"))

const record: fc.Arbitrary<StateRecord.StateRecord> = fc.constantFrom(...kinds).chain(([kind, { keyBytes }]) =>
  fc.record({
    kind: fc.constant(kind),
    key: fc.uint8Array({ minLength: keyBytes, maxLength: keyBytes }).filter((key) => StateKey.isKeyOf(kind, key)),
    value: fc.uint8Array({ maxLength: 50 }),
  }),
)

itObeysTheLawsOfACodec("state records", {
  values: record,
  encode: StateRecord.encode,
  // The parts are views of the input, and compared by content.
  decode: (input) =>
    Either.map(StateRecord.decode(input), ({ kind, key, value }) => ({
      kind,
      key: Uint8Array.from(key),
      value: Uint8Array.from(value),
    })),
})

describe("a record of the state", () => {
  it("is found by the hash of its kind and key", () => {
    fc.assert(
      fc.property(record, (each) => {
        const hashed = createHash("sha256").update("udg/key\0").update(Uint8Array.of(StateKey.KINDS[each.kind].byte))
        expect(StateRecord.placeOf(each)).toBe(hashed.update(each.key).digest("hex"))
      }),
    )
    const account = { kind: "Account", key: bytes("a1".repeat(20)), value: new Uint8Array(0) } as const
    expect(StateKey.ofAccount("a1".repeat(20) as Parameters<typeof StateKey.ofAccount>[0])).toBe(
      StateRecord.placeOf(account),
    )
  })

  it("has the kind of its first byte, which no other kind has", () => {
    expect(kinds.map(([, { byte }]) => byte)).toEqual(kinds.map((_, i) => i + 1))
    for (const [kind, { byte }] of kinds) expect(StateKey.kindOf(byte)).toBe(kind)
    expect([StateKey.kindOf(0), StateKey.kindOf(16)]).toEqual([undefined, undefined])
  })

  it.each(kinds)("of kind %s has a key of one length, with any counter below 2^53", (kind, shape) => {
    const { keyBytes, counterAt } = shape
    expect(() => StateKey.hash(kind, new Uint8Array(keyBytes + 1))).toThrow(
      new RangeError(`a key of kind ${kind} has ${keyBytes} bytes, not ${keyBytes + 1}`),
    )
    const keyWith = (counter: number): Uint8Array => {
      const key = new Uint8Array(keyBytes).fill(0xee)
      if (counterAt !== null) key.set(bytes(StateKey.counter(counter)), counterAt)
      return key
    }
    expect(StateKey.isKeyOf(kind, keyWith(Number.MAX_SAFE_INTEGER))).toBe(true)
    expect(StateKey.isKeyOf(kind, keyWith(2 ** 53))).toBe(counterAt === null)
    expect(StateKey.isKeyOf(kind, keyWith(2 ** 56))).toBe(counterAt === null)
    expect(StateKey.isKeyOf(kind, new Uint8Array(keyBytes).fill(0xff))).toBe(counterAt === null)
  })

  const refusalOf = (hex: string): string => Option.getOrThrow(Either.getLeft(StateRecord.decode(bytes(hex)))).message

  it("is refused with an unknown kind, or a counter that is too high", () => {
    expect(refusalOf("00")).toContain("state record: record kind 0 at byte")
    expect(refusalOf(`10${"00".repeat(30)}`)).toContain("state record: record kind 16 at byte")
    expect(refusalOf(`0300${"20".padEnd(14, "0")}`)).toContain(
      "a counter of 2^53 or more in the key of a record of kind Proposal",
    )
    expect(refusalOf("0300")).toContain("expected 8 bytes, 1 left")
  })

  it("orders the counters in its key as numbers", () => {
    fc.assert(
      fc.property(arbitrary.counter(), arbitrary.counter(), (a, b) => {
        expect(StateKey.counter(a) < StateKey.counter(b)).toBe(a < b)
        expect(StateKey.counter(a)).toHaveLength(16)
      }),
    )
  })
})
