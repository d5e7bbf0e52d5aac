import { describe, expect, it } from "vitest"
import * as JsonProblem from "../../src/protocol/encoding/JsonProblem.js"

const whole = "transaction"
const wrong = (path: ReadonlyArray<PropertyKey>, actual: unknown) =>
  JsonProblem.ofComplaint({ _tag: "Wrong", path, expected: "a number", actual }, whole).reason

describe("a problem of JSON", () => {
  it("shows the input, unless it is missing or may be a secret", () => {
    expect(wrong(["amount"], "ten")).toBe('expected a number, got "ten"')
    expect(wrong(["amount"], undefined)).toBe("expected a number")
    expect(wrong(["secret_key"], "abc")).toBe("expected a number")
    expect(wrong(["secret_key", 0, "name"], "abc")).toBe("expected a number")
    const others: ReadonlyArray<unknown> = [[1], {}, null, true, 5]
    expect(others.map((actual) => wrong(["amount"], actual).replace("expected a number, got ", ""))).toEqual([
      "an array",
      "an object",
      "null",
      "true",
      "5",
    ])
    expect([40, 41].map((length) => wrong(["amount"], "x".repeat(length)))).toEqual([
      `expected a number, got "${"x".repeat(40)}"`,
      "expected a number, got 41 characters",
    ])
    expect(JsonProblem.atNumber(["fee"], whole, "an integer", "1".repeat(40)).reason).toBe(
      `expected an integer, got ${"1".repeat(40)}`,
    )
    expect(JsonProblem.atNumber(["seed"], whole, "an integer", "1e9").reason).toBe("expected an integer")
    expect(JsonProblem.atNumber(["fee"], whole, "an integer", "1".repeat(41)).reason).toBe(
      "expected an integer, got a number of 41 characters",
    )
  })

  it("states the expected value of a missing field, and the known fields for an unknown one", () => {
    const missing = { _tag: "Missing", path: ["to"] } as const
    expect(JsonProblem.ofComplaint({ ...missing, expected: "an address" }, whole).reason).toBe(
      "missing; expected an address",
    )
    expect(JsonProblem.ofComplaint(missing, whole)).toEqual({
      field: "to",
      reason: "missing",
    })
    const unknown = { _tag: "Unknown", path: ["tot"] } as const
    expect(JsonProblem.ofComplaint({ ...unknown, known: ["to", "fee"] }, whole).reason).toBe(
      "no such field; known are to, fee",
    )
    expect(JsonProblem.ofComplaint({ ...unknown, known: [] }, whole).reason).toBe("no such field")
  })

  it("names the field by its path, cut when long, and the whole without one", () => {
    const field = (...path: ReadonlyArray<PropertyKey>) => JsonProblem.at(path, whole, "no").field
    expect(field()).toBe(whole)
    expect(field("keys", 3, "name")).toBe("keys[3].name")
    expect(field(...Array.from({ length: 100 }, () => "deep"))).toMatch(/^(deep\.){40}…$/)
    expect(field("a b")).toBe("(a long or unprintable name)")
    expect(field(2, "keys", "a b")).toBe("[2].keys.(a long or unprintable name)")
    const [fits, longer] = [5, 6].map((length) => field(...new Array(39).fill("deep"), "d".repeat(length)))
    expect([fits, longer]).toEqual([`${"deep.".repeat(39)}ddddd`, `${"deep.".repeat(39)}ddddd…`])
  })

  it("is one line of both", () => {
    expect(JsonProblem.message({ field: "to", reason: "missing" })).toBe("to: missing")
  })
})
