/** A new passphrase, typed twice because a mistyped one cannot be restored. */
import { InvalidInput } from "../../client/Wallet.js"
import { Secret } from "./Input.js"
import * as Vault from "./Vault.js"

export interface Passphrases {
  readonly first: string
  readonly again: string
}

export const NONE: Passphrases = { first: "", again: "" }

/** The passphrase, if it is long enough and both entries match. */
export const read = ({ first, again }: Passphrases): string => {
  if (first.length < Vault.SHORTEST_PASSPHRASE)
    throw new InvalidInput(`a passphrase needs at least ${Vault.SHORTEST_PASSPHRASE} characters`)
  if (first !== again) throw new InvalidInput("the two passphrases differ")
  return first
}

interface Props {
  readonly id: string
  readonly value: Passphrases
  readonly onChange: (passphrases: Passphrases) => void
}

export const NewPassphrase = ({ id, value, onChange }: Props) => (
  <>
    <Secret
      id={id}
      label="Passphrase"
      value={value.first}
      onChange={(first) => onChange({ ...value, first })}
      isNew
      hint={`At least ${Vault.SHORTEST_PASSPHRASE} characters. Nobody can restore it for you.`}
    />
    <Secret
      id={`${id}-again`}
      label="Passphrase again"
      value={value.again}
      onChange={(again) => onChange({ ...value, again })}
      isNew
    />
  </>
)
