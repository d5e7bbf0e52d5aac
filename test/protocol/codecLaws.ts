/** The laws of every codec: round trip, one encoding for each value, and no input that throws. */
import { setImmediate as turn } from "node:timers/promises"
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import type { MalformedBytes } from "../../src/protocol/encoding/Binary.js"
import * as Rest from "../support/Rest.js"

export interface Codec<A> {
  readonly values: fc.Arbitrary<A>
  readonly encode: (value: A) => Uint8Array
  readonly decode: (bytes: Uint8Array) => Either.Either<A, MalformedBytes>
  /** The source of hostile inputs, where `values` are so large that this many of them take too long. */
  readonly small?: fc.Arbitrary<A>
}

/** Byte strings given to each codec. */
const HOSTILE_INPUTS = Number(process.env["UDG_FUZZ_INPUTS"] ?? 20_000)
const USUAL_HOSTILE_INPUTS = 2_000
const ROUND_TRIPS = 100
/** Between two turns of the event loop. */
const INPUTS_A_TURN = 1_000
const SEED = 0x5eed

/** Repeatable randomness: xorshift32. The same inputs every time, so a failure names one by its number. */
export const makeChance = (seed: number) => {
  let state = seed | 1
  const below = (limit: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
  return { below, pick: <A>(items: ReadonlyArray<A>): A => items[below(items.length)] as A }
}

type Chance = ReturnType<typeof makeChance>

const joined = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => new Uint8Array(Buffer.concat(parts))

const random = (chance: Chance, length: number): Uint8Array => Uint8Array.from({ length }, () => chance.below(256))

/** What bit rot, a bug or an attacker makes of valid bytes. */
const mutations: ReadonlyArray<(bytes: Uint8Array, other: Uint8Array, chance: Chance) => Uint8Array> = [
  (bytes, _, chance) => {
    const flipped = bytes.slice()
    for (let flips = 1 + chance.below(3); flips > 0; flips--) {
      const at = chance.below(flipped.length)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << chance.below(8))
    }
    return flipped
  },
  (bytes, _, chance) => bytes.subarray(0, chance.below(bytes.length)),
  (bytes, _, chance) => joined(bytes, random(chance, 1 + chance.below(40))),
  (bytes, other, chance) =>
    joined(bytes.subarray(0, chance.below(bytes.length + 1)), other.subarray(chance.below(other.length + 1))),
  // A length or count of one, two, four or eight bytes, inflated, wherever it may be.
  (bytes, _, chance) => {
    const at = chance.below(bytes.length)
    return bytes.slice().fill(chance.pick([0xff, 0x7f, 0x80]), at, at + chance.pick([1, 2, 4, 8]))
  },
  (bytes, _, chance) => {
    const swapped = bytes.slice()
    swapped[chance.below(swapped.length)] = chance.below(256)
    return swapped
  },
]

export function* hostileInputs(samples: ReadonlyArray<Uint8Array>, count: number): Generator<Uint8Array> {
  const chance = makeChance(SEED)
  for (let i = 0; i < count; i++) {
    const bytes = chance.pick(samples)
    yield i % 10 === 0 ? random(chance, chance.below(200)) : chance.pick(mutations)(bytes, chance.pick(samples), chance)
  }
}

export const itObeysTheLawsOfACodec = <A>(name: string, { values, encode, decode, small = values }: Codec<A>): void => {
  describe(`the codec of ${name}`, () => {
    it("returns every value it wrote", () => {
      fc.assert(
        fc.property(values, (value) => {
          expect(Either.getOrThrow(decode(encode(value)))).toStrictEqual(value)
        }),
        { numRuns: ROUND_TRIPS },
      )
    })

    const survives = async (count: number): Promise<void> => {
      const samples = fc.sample(small, { numRuns: 100, seed: SEED }).map(encode)
      let number = 0
      let accepted = 0
      for (const input of hostileInputs(samples, count)) {
        if (++number % INPUTS_A_TURN === 0) await turn()
        const decoded = decode(input)
        if (Either.isLeft(decoded)) continue
        accepted++
        if (!Buffer.from(encode(decoded.right)).equals(input)) {
          expect.fail(`input ${number} is a second encoding: ${Buffer.from(input).toString("hex")}`)
        }
      }
      // Mutations that still decode are the interesting ones: without any, canonicity was not tested.
      expect(accepted).toBeGreaterThan(count / 1_000)
    }

    const named = (count: number) =>
      `decodes ${count} random and mutated byte strings without a throw, the accepted ones canonically`

    it(named(USUAL_HOSTILE_INPUTS), () => survives(USUAL_HOSTILE_INPUTS))
    it(Rest.of("more of the same", named(HOSTILE_INPUTS)), () => survives(HOSTILE_INPUTS))
  })
}
