import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Route from "../../../src/explorer/route/Route.js"

describe("the explorer's paths", () => {
  it.each(Route.places)("lead to the page of %s and back", (place) => {
    expect(Route.read(Route.place(place))).toEqual({ page: place })
  })

  it("carry a subject of any name", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Route.subjects), fc.string({ unit: "grapheme", minLength: 1 }), (page, of) => {
        fc.pre(of !== "." && of !== "..")
        expect(Route.read(new URL(Route.subject(page, of), "http://x").pathname)).toEqual({ page, of })
      }),
    )
  })

  it("write a name as people do", () => {
    expect(Route.subject("address", "@alice")).toBe("/explorer/address/@alice")
  })

  it("carry the search text", () => {
    const url = new URL(Route.search("a & b?"), "http://x")
    expect(Route.read(url.pathname, url.search)).toEqual({ page: "search", query: "a & b?" })
  })

  it.each(["/explorer/nothing", "/explorer/tx", "/explorer/tx/a/b", "/explorer/dag/5", "/elsewhere"])(
    "match nothing at %s",
    (path) => {
      expect(Route.read(path)).toEqual({ page: "nowhere", path })
    },
  )

  it("survive a broken escape", () => {
    expect(Route.read("/explorer/tx/%zz")).toEqual({ page: "tx", of: "%zz" })
  })
})
