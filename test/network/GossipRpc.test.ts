import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { Assembly } from "../../src/network/Assembly.js"
import * as GossipRpc from "../../src/network/GossipRpc.js"

const LIMITS: GossipRpc.Limits = { bytes: 4_096, subscriptions: 4, messages: 8, controls: 8, ids: 16 }

const varint = (value: number): ReadonlyArray<number> =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]

const bytes = (number: number, content: Iterable<number>): ReadonlyArray<number> => {
  const all = [...content]
  return [number * 8 + 2, ...varint(all.length), ...all]
}
const number = (field: number, value: number): ReadonlyArray<number> => [field * 8, ...varint(value)]
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

const TOPIC = bytes(1, text("transactions"))
const id = (field: number) => bytes(field, new Uint8Array(32))
const subscription = bytes(1, [...number(1, 1), ...bytes(2, text("transactions"))])
const message = bytes(2, [...bytes(2, new Uint8Array(300)), ...bytes(4, text("transactions"))])
const control = (...parts: ReadonlyArray<ReadonlyArray<number>>) => bytes(3, parts.flat())
const ihave = (ids: number) => bytes(1, [...TOPIC, ...Array.from({ length: ids }, () => id(2)).flat()])
const iwant = (ids: number) => bytes(2, Array.from({ length: ids }, () => id(1)).flat())
const prune = bytes(4, [...TOPIC, ...number(3, 60)])

const counted = (...parts: ReadonlyArray<ReadonlyArray<number>>) =>
  GossipRpc.counted(Uint8Array.from(parts.flat()), LIMITS)

describe("gossip of the wire", () => {
  it("is counted without being decoded", () => {
    expect(counted()).toEqual({ subscriptions: 0, messages: 0, controls: 0, ids: 0 })
    expect(counted(subscription, message, message, control(ihave(3), iwant(2), bytes(3, TOPIC), prune))).toEqual({
      subscriptions: 1,
      messages: 2,
      controls: 4,
      ids: 5,
    })
  })

  it.each([
    ["subscriptions, empty ones", Array.from({ length: 5 }, () => bytes(1, []))],
    ["messages, empty ones", Array.from({ length: 9 }, () => bytes(2, []))],
    ["controls, empty ones", [control(...Array.from({ length: 9 }, () => bytes(3, [])))]],
    ["ids", [control(ihave(9), iwant(8))]],
  ])("is refused with too many %s", (what, parts) => {
    expect(() => counted(...parts)).toThrow(`more than ${LIMITS[what.split(",")[0] as keyof GossipRpc.Limits]}`)
  })

  it.each([
    ["an id of another length", control(bytes(2, bytes(1, new Uint8Array(31))))],
    ["a signature", bytes(2, bytes(5, [1]))],
    ["an unknown field", bytes(4, [])],
    ["a field of another kind", number(1, 1)],
    ["peers to be exchanged", control(bytes(4, bytes(2, [])))],
    ["a length beyond its end", [10, 5, 0]],
    ["a number without an end", [128, 128, 128, 128, 128, 128, 0]],
    ["a topic of a thousand bytes", bytes(1, bytes(2, new Uint8Array(1_000)))],
  ])("is refused with %s", (_, part) => {
    expect(() => counted(part)).toThrow(GossipRpc.Malformed)
  })

  it("is refused by its length, before the rest of it has come", () => {
    const assembly = new Assembly(GossipRpc.frameLength(LIMITS))
    assembly.add(Uint8Array.from(varint(4_097)))
    expect(() => assembly.next()).toThrow("4097 bytes, at most 4096 allowed")
    expect(() => GossipRpc.headLength(Uint8Array.of(255, 255, 255, 255, 255))).toThrow(GossipRpc.Malformed)
  })

  it("of random and changed bytes is counted within the limits or refused, and nothing else", () => {
    const whole = Uint8Array.from([...subscription, ...message, ...control(ihave(3), iwant(2), prune)])
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 })
    const changed = changes.map((all) => {
      const copy = whole.slice()
      for (const [at, byte] of all) copy[at] = byte
      return copy
    })
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), changed), (input) => {
        try {
          const { subscriptions, messages, controls, ids } = GossipRpc.counted(input, LIMITS)
          expect(subscriptions <= 4 && messages <= 8 && controls <= 8 && ids <= 16).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(GossipRpc.Malformed)
        }
      }),
      { numRuns: 20_000 },
    )
  })
})
