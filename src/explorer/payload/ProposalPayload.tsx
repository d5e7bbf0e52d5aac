import type { Fields } from "../../client/Proposal.js"
import { PARAMETER } from "../../protocol/epoch/ProtocolVersion.js"
import * as Live from "../live/Live.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Account } from "../show/Account.js"
import { Amount } from "../show/Amount.js"
import type { Fact } from "../show/Page.js"
import { figureOf, sentenceOf } from "../show/ParameterWords.js"

interface ChangeProps {
  readonly param: string
  readonly value: number
  readonly isAhead: boolean
}

/** Shows the current value while the change is still ahead; the node does not keep it afterwards. */
const Change = ({ param, value, isAhead }: ChangeProps) => {
  const config = useResource("parameters", () => node.governance.config(), Live.slowBeat)
  const now =
    config.state === "ready" && isAhead
      ? config.value.governable_params.find(({ name }) => name === param)?.value
      : undefined
  return (
    <>
      {now === undefined ? undefined : (
        <>
          <s class="quiet">{figureOf(param, now)}</s> →{" "}
        </>
      )}
      <b>{figureOf(param, value)}</b>
    </>
  )
}

/** The effect of a proposal, field by field. */
export const payloadFacts = (payload: Fields, isAhead: boolean, isWhole = false): ReadonlyArray<Fact> => {
  if ("param" in payload && payload.param === PARAMETER) {
    const when = isAhead ? "from the epoch after it passes" : "from the epoch after it passed"
    return [["Change", `Protocol version ${payload.value} ${when}`]]
  }
  if ("param" in payload) {
    return [
      [
        "Parameter",
        <>
          <span class="mono">{payload.param}</span> <span class="quiet">{sentenceOf(payload.param)}</span>
        </>,
      ],
      [isAhead ? "Change" : "Value", <Change param={payload.param} value={payload.value} isAhead={isAhead} />],
    ]
  }
  if ("action" in payload) {
    return [
      ["Council", payload.action === "add" ? "no seat → a seat" : "a seat → no seat"],
      ["For", <Account account={payload.address} isWhole={isWhole} />],
    ]
  }
  if ("recipient" in payload) {
    return [
      ["Treasury pays", <Amount sats={payload.amount} />],
      ["To", <Account account={payload.recipient} isWhole={isWhole} />],
    ]
  }
  return [["Change", "none: a declaration"]]
}
