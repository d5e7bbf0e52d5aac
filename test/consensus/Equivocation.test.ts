import { describe, expect, it } from "vitest"
import { Equivocations } from "../../src/consensus/dag/Equivocation.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import { draw } from "./Picture.js"

const picture = draw(`
      A       B     C     D
  1  ./.     ./.    .     .
  2  ABC/ACD ABC   ABC   ABC
`)
const header = (name: string) => picture.vertex(name).header

describe("evidence", () => {
  it("consists of two headers of one slot, in the order of their hashes", () => {
    const found = new Equivocations().find(header("a1"), [header("B1"), header("A1"), header("A2")])
    expect(found).toEqual(Evidence.of(header("A1"), header("a1")))
    expect((found?.first.hash ?? "") < (found?.second.hash ?? "")).toBe(true)
  })

  it("is not made of a header and itself, or of different slots", () => {
    expect(new Equivocations().find(header("A1"), [header("A1"), header("A2"), header("B1")])).toBeUndefined()
  })

  it("is found once per author", () => {
    const equivocations = new Equivocations()
    expect(equivocations.find(header("a1"), [header("A1")])).toBeDefined()
    expect(equivocations.find(header("a2"), [header("A2")])).toBeUndefined()
    expect(equivocations.find(header("b1"), [header("B1")])).toBeDefined()
    expect(["A1", "B1", "C1"].map((name) => equivocations.isProven(header(name).author))).toEqual([true, true, false])
  })
})
