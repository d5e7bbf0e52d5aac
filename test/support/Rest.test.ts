/** What `npm test` leaves out: the two selections together have all cases, each once. */
import { describe, expect, it } from "vitest"
import * as Rest from "./Rest.js"

describe("the rest", () => {
  it("has every marked case, and the usual cases are all others", () => {
    const { of } = Rest
    const marked = [`a group ${of("it takes long", "a case")}`, `${of("it takes\nlong", "a group")} a case`]
    const unmarked = ["a group a case", "a group that speaks of the rest a case"]
    const selectedFrom = (names: ReadonlyArray<string>, selection: Rest.Selection) =>
      names.filter((name) => Rest.NAMES[selection].test(name))
    expect(selectedFrom([...marked, ...unmarked], "rest")).toEqual(marked)
    expect(selectedFrom([...marked, ...unmarked], "usual")).toEqual(unmarked)
    expect(selectedFrom([...marked, ...unmarked], "all")).toEqual([...marked, ...unmarked])
  })

  it("is selected by an existing word", () => {
    expect(Rest.selectionOf(undefined)).toBe("usual")
    expect(() => Rest.selectionOf("everything")).toThrow("UDG_TESTS=everything: expected usual, rest or all")
  })
})
