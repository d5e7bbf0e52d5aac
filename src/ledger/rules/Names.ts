/** Registered names: one per account, first come, first served; the fee goes to the treasury. */
import type { RegisterName } from "../../protocol/transaction/Operation.js"
import type { Row } from "../tables/AccountRows.js"
import type { State } from "../tables/State.js"
import * as Rejection from "./Rejection.js"

export const registerRejection = (state: State, row: Row | undefined, { name }: RegisterName): Rejection.Verdict => {
  if (state.names.find(name) !== undefined) return { _tag: "NameTaken", name }
  const { name: own } = state.accounts.extras(row)
  return own === null ? undefined : Rejection.invalid("has_a_name", `this account already has the name @${own}`)
}

export const applyRegister = (state: State, row: Row, { name }: RegisterName): void => state.update(row, { name })
