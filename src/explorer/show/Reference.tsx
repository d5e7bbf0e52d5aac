/** Links to things by name: abbreviated in lists, complete on the thing's own page. */
import type { Address as AddressType } from "../../protocol/identity/Address.js"
import * as AccountName from "../live/AccountName.js"
import * as Labels from "../live/Labels.js"
import * as Network from "../live/Network.js"
import * as Route from "../route/Route.js"
import { Copy } from "./Copy.js"
import * as Words from "./Words.js"

interface Shown {
  /** Not abbreviated. */
  readonly isWhole?: boolean
  readonly hasCopy?: boolean
}

interface Props extends Shown {
  /** None for text that links nowhere. */
  readonly href?: string
  readonly text: string
  readonly what: string
  /** Shown instead of the text, which is then in the tooltip. */
  readonly name?: string | null
  /** The name is the reader's private label. */
  readonly isLabel?: boolean
}

const Reference = ({ href, text, what, name = null, isLabel = false, isWhole = false, hasCopy = true }: Props) => {
  const content = name ?? (isWhole ? text : Words.abbreviated(text))
  const title = content === text ? undefined : name !== null && isLabel ? `your label for ${text}` : text
  const style = name === null ? "mono" : isLabel ? "named label" : "named"
  return (
    <span class="reference">
      {href === undefined ? (
        <span class={style} title={title}>
          {content}
        </span>
      ) : (
        <a class={style} href={href} title={title}>
          {content}
        </a>
      )}
      {hasCopy ? <Copy text={text} what={what} /> : undefined}
    </span>
  )
}

type Hashed = Shown & { readonly hash: string }

export const Transaction = ({ hash, ...shown }: Hashed) => (
  <Reference href={Route.subject("tx", hash)} text={hash} what="transaction hash" {...shown} />
)

export const Vertex = ({ hash, ...shown }: Hashed) => (
  <Reference href={Route.subject("vertex", hash)} text={hash} what="vertex hash" {...shown} />
)

type Account = Shown & { readonly address: AddressType; readonly as?: "address" | "validator" }

export const Address = ({ address, as = "address", ...shown }: Account) => {
  const text = Network.written(address)
  const called = AccountName.of(address)
  return (
    <Reference
      href={Route.subject(as, text)}
      text={text}
      what="address"
      name={shown.isWhole ? null : called}
      isLabel={Labels.of(address) !== undefined}
      {...shown}
    />
  )
}

export const Round = ({ round }: { readonly round: number }) => (
  <a class="figure" href={Route.subject("round", round)}>
    {Words.count(round)}
  </a>
)

export const Epoch = ({ epoch }: { readonly epoch: number }) => (
  <a class="figure" href={Route.subject("epoch", epoch)}>
    {Words.count(epoch)}
  </a>
)

export const Proposal = ({ id }: { readonly id: number }) => (
  <a class="figure" href={Route.subject("proposal", id)}>
    #{id}
  </a>
)

/** Text to copy, such as a hash or key, without its own page. */
export const Text = Reference
