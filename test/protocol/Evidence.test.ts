import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import type { MalformedBytes } from "../../src/protocol/encoding/Binary.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

itObeysTheLawsOfACodec("evidence", {
  values: arbitrary.evidence,
  encode: Evidence.encode,
  decode: Evidence.decode,
})

const reasonOf = (decoded: Either.Either<unknown, MalformedBytes>): string =>
  Option.getOrThrow(Either.getLeft(decoded)).reason

describe("evidence", () => {
  it("is the same whichever of the two headers was seen first", () => {
    fc.assert(
      fc.property(arbitrary.evidence, ({ first, second }) => {
        expect(Evidence.of(second, first)).toStrictEqual(Evidence.of(first, second))
        expect(Evidence.of(first, second)).toStrictEqual({ first, second })
      }),
    )
  })

  it("is not made of one header, even under two signatures", () => {
    fc.assert(
      fc.property(arbitrary.header, arbitrary.signature, (header, signature) => {
        expect(Evidence.of(header, header)).toBeUndefined()
        expect(
          Evidence.of(
            header,
            Header.make(header, () => signature),
          ),
        ).toBeUndefined()
        expect(reasonOf(Evidence.decode(Evidence.encode({ first: header, second: header })))).toContain("order")
      }),
    )
  })

  it("is not made of headers of different slots", () => {
    fc.assert(
      fc.property(arbitrary.header, arbitrary.header, (a, b) => {
        expect(Evidence.of(a, b)).toBeUndefined()
        expect(reasonOf(Evidence.decode(Evidence.encode({ first: a, second: b })))).toContain("different slots")
      }),
    )
  })

  it("is not made of an author's next header, in another round or epoch", () => {
    fc.assert(
      fc.property(arbitrary.header, (header) => {
        const next = (change: Partial<Header.Content>) => Header.make({ ...header, ...change }, () => header.signature)
        expect(Evidence.of(header, next({ round: Natural.round(7) }))).toBeUndefined()
        expect(Evidence.of(header, next({ epoch: Natural.epoch(7) }))).toBeUndefined()
      }),
    )
  })

  it("has one order on the wire", () => {
    fc.assert(
      fc.property(arbitrary.evidence, ({ first, second }) => {
        expect(reasonOf(Evidence.decode(Evidence.encode({ first: second, second: first })))).toContain("order")
      }),
    )
  })
})
