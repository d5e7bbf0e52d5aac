/** Selects a validator or proposal, so that nobody has to type an address or number. */

import { Either } from "effect"
import * as Visible from "../../client/Visible.js"
import * as Address from "../../protocol/identity/Address.js"
import * as AccountName from "../live/AccountName.js"
import * as Network from "../live/Network.js"
import { type Answer, node } from "../live/Node.js"
import { type Resource, useResource } from "../live/Resource.js"
import * as Words from "../show/Words.js"

interface Option {
  readonly value: string
  readonly text: string
}

export interface Props {
  readonly id: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly describedBy: string | undefined
}

interface SelectProps extends Props {
  readonly options: Resource<ReadonlyArray<Option>>
  /** The first line, which is not a choice. */
  readonly ask: string
  readonly empty: string
}

const Select = ({ id, value, onChange, describedBy, options, ask, empty }: SelectProps) => {
  const choices = options.state === "ready" ? options.value : []
  const first = options.state === "ready" ? (choices.length === 0 ? empty : ask) : "Loading…"
  return (
    <select
      id={id}
      value={choices.some((choice) => choice.value === value) ? value : ""}
      required
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      aria-describedby={describedBy}
    >
      <option value="" disabled>
        {first}
      </option>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.text}
        </option>
      ))}
    </select>
  )
}

const changed = <A, B>(resource: Resource<A>, change: (value: A) => B): Resource<B> =>
  resource.state === "ready" ? { state: "ready", value: change(resource.value) } : resource

type Validator = Answer<"staking", "validators">["validators"][number]

const validatorOption = ({ address, effective_stake: stake, commission_percent: commission }: Validator): Option => {
  const written = Network.written(address)
  const called = AccountName.of(address) ?? Words.abbreviated(written)
  return { value: written, text: `${called}, keeps ${commission} %, ${Words.aboutCoins(stake)} UDG at stake` }
}

/** A link made before the network was known has the address in hex, the options do not. */
const inOptions = (value: string): string => {
  const prefix = Network.network.value?.address_prefix
  if (prefix === undefined) return value
  return Either.match(Address.parse(value, prefix), { onLeft: () => value, onRight: Network.written })
}

/** Validators that accept delegations, largest first. */
export const ValidatorPicker = (props: Props) => {
  const list = useResource("validators", () => node.staking.validators())
  const options = changed(list, ({ validators }) =>
    validators.filter(({ is_active }) => is_active).map(validatorOption),
  )
  return (
    <Select
      {...props}
      value={inOptions(props.value)}
      options={options}
      ask="Choose a validator"
      empty="No validator is active."
    />
  )
}

/** Proposals open for voting, newest first. */
export const ProposalPicker = (props: Props) => {
  const list = useResource("proposals", () => node.governance.proposals())
  const options = changed(list, ({ proposals }) =>
    proposals
      .filter(({ status }) => status === "Active")
      .map(({ id, title }) => ({ value: `${id}`, text: `#${id} ${Visible.lines(title)}` })),
  )
  return <Select {...props} options={options} ask="Choose a proposal" empty="No proposal is open for votes." />
}
