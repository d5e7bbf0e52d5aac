import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as ProposalPayload from "../../src/protocol/transaction/ProposalPayload.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

const decode = (bytes: Uint8Array) => Binary.decode("proposal payload", bytes, ProposalPayload.read)

itObeysTheLawsOfACodec("proposal payloads", {
  values: arbitrary.payload,
  encode: (payload) => Binary.encode((writer) => ProposalPayload.write(writer, payload)),
  decode,
})

describe("a proposal payload is refused with", () => {
  it.each([
    ["an unknown type", "04", "proposal type 4"],
    ["an unknown council action", `0202${"00".repeat(20)}`, "council action 2"],
    ["a parameter name over 64 bytes", `0141${"61".repeat(65)}0000000000000000`, "text of 65 bytes, at most 64"],
  ])("%s", (_, hex, reason) => {
    const error = Option.getOrThrow(Either.getLeft(decode(Buffer.from(hex, "hex"))))
    expect(error.reason).toContain(reason)
  })

  it("a parameter without a name", () => {
    const change = (param: string) => ProposalPayload.violationOf({ _tag: "ParameterChange", param, value: 1 })
    expect(change("")).toEqual({ field: "param", reason: "must not be empty" })
    expect(change("x")).toBeUndefined()
  })
})
