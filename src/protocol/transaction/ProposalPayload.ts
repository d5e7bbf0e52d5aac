/** The effect of a proposal if it passes: the `proposal_type` object of the wire. */

import type { Reader, Writer } from "../encoding/Binary.js"
import type { JsonProblem } from "../encoding/JsonProblem.js"
import * as Address from "../identity/Address.js"
import * as Limits from "../numbers/Limits.js"
import type { Sats } from "../numbers/Sats.js"

export type CouncilAction = "add" | "remove"

export type ProposalPayload =
  | { readonly _tag: "Text" }
  | { readonly _tag: "ParameterChange"; readonly param: string; readonly value: number }
  | { readonly _tag: "CouncilMembership"; readonly action: CouncilAction; readonly address: Address.Address }
  | { readonly _tag: "TreasurySpend"; readonly recipient: Address.Address; readonly amount: Sats }

const TAG = { Text: 0, ParameterChange: 1, CouncilMembership: 2, TreasurySpend: 3 } as const

export const write = (writer: Writer, payload: ProposalPayload): Writer => {
  writer.u8(TAG[payload._tag])
  switch (payload._tag) {
    case "Text":
      return writer
    case "ParameterChange":
      return writer.text8(payload.param).u64(payload.value)
    case "CouncilMembership":
      return writer.u8(payload.action === "add" ? 0 : 1).hex(payload.address)
    case "TreasurySpend":
      return writer.hex(payload.recipient).u64(payload.amount)
  }
}

/** Why a payload is invalid on every network. The same rules apply to JSON and to bytes. */
export const violationOf = (payload: ProposalPayload): JsonProblem | undefined => {
  switch (payload._tag) {
    case "Text":
    case "CouncilMembership":
      return undefined
    case "ParameterChange":
      return payload.param === "" ? { field: "param", reason: "must not be empty" } : undefined
    case "TreasurySpend":
      return payload.amount < 1 ? { field: "amount", reason: "must be at least 1" } : undefined
  }
}

const readAction = (reader: Reader): CouncilAction => {
  const action = reader.u8()
  reader.require(action <= 1, `council action ${action}`)
  return action === 0 ? "add" : "remove"
}

/** Reads a payload; `Operation` calls `violationOf`. */
export const read = (reader: Reader): ProposalPayload => {
  const tag = reader.u8()
  switch (tag) {
    case TAG.Text:
      return { _tag: "Text" }
    case TAG.ParameterChange:
      return { _tag: "ParameterChange", param: reader.text8(Limits.PARAMETER_NAME_BYTES), value: reader.u64() }
    case TAG.CouncilMembership:
      return { _tag: "CouncilMembership", action: readAction(reader), address: Address.read(reader) }
    case TAG.TreasurySpend:
      return { _tag: "TreasurySpend", recipient: Address.read(reader), amount: reader.sats() }
    default:
      reader.fail(`proposal type ${tag}`)
      return { _tag: "Text" }
  }
}
