/** Names of things, each leading to its page: abbreviated where a list has no room, whole where the thing is the subject. */
import type { Address as AddressType } from "../../protocol/identity/Address.js"
import * as Network from "../live/Network.js"
import * as Route from "../route/Route.js"
import { Copy } from "./Copy.js"
import * as Words from "./Words.js"

interface Props {
  readonly href: string
  readonly text: string
  readonly what: string
  readonly isWhole?: boolean | undefined
  readonly copy?: string | undefined
}

const Reference = ({ href, text, what, isWhole = false, copy }: Props) => (
  <span class="reference">
    <a class="mono" href={href} title={isWhole ? undefined : text}>
      {isWhole ? text : Words.abbreviated(text, text.startsWith("t") || text.startsWith("u") ? 10 : 8)}
    </a>
    {copy === undefined ? undefined : <Copy text={copy} what={what} />}
  </span>
)

interface Hashed {
  readonly hash: string
  readonly isWhole?: boolean
  readonly hasCopy?: boolean
}

export const Transaction = ({ hash, isWhole, hasCopy = true }: Hashed) => (
  <Reference
    href={Route.subject("tx", hash)}
    text={hash}
    what="transaction hash"
    isWhole={isWhole}
    copy={hasCopy ? hash : undefined}
  />
)

export const Vertex = ({ hash, isWhole, hasCopy = true }: Hashed) => (
  <Reference
    href={Route.subject("vertex", hash)}
    text={hash}
    what="vertex hash"
    isWhole={isWhole}
    copy={hasCopy ? hash : undefined}
  />
)

interface Account {
  readonly address: AddressType
  readonly as?: "address" | "validator"
  readonly isWhole?: boolean
  readonly hasCopy?: boolean
}

export const Address = ({ address, as = "address", isWhole, hasCopy = true }: Account) => {
  const text = Network.written(address)
  return (
    <Reference
      href={Route.subject(as, text)}
      text={text}
      what="address"
      isWhole={isWhole}
      copy={hasCopy ? text : undefined}
    />
  )
}

export const Round = ({ round }: { readonly round: number }) => (
  <a class="figure" href={Route.subject("round", round)}>
    {Words.count(round)}
  </a>
)

/** A hash that leads nowhere. */
export const Hash = ({
  hash,
  what,
  isWhole = false,
}: {
  readonly hash: string
  readonly what: string
  readonly isWhole?: boolean
}) => (
  <span class="reference">
    <span class="mono" title={hash}>
      {isWhole ? hash : Words.abbreviated(hash)}
    </span>
    <Copy text={hash} what={what} />
  </span>
)
