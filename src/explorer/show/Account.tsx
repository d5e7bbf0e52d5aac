import { Option, Schema } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as Route from "../route/Route.js"
import * as Reference from "./Reference.js"

const decode = Schema.decodeUnknownOption(Address.schema)

interface Props {
  readonly account: string
  readonly isWhole?: boolean
  readonly hasCopy?: boolean
}

/** An account in a transaction: an address in any form, or a @name. */
export const Account = ({ account, isWhole = false, hasCopy = true }: Props) =>
  Option.match(decode(account), {
    onNone: () => <a href={Route.subject("address", account)}>{account}</a>,
    onSome: (address) => <Reference.Address address={address} isWhole={isWhole} hasCopy={hasCopy} />,
  })
