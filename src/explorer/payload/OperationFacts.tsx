/** A transaction's fields, for its page and for the review before signing. */
import * as Proposal from "../../client/Proposal.js"
import type { Answer } from "../live/Node.js"
import * as Route from "../route/Route.js"
import { Account } from "../show/Account.js"
import { Amount } from "../show/Amount.js"
import type { Fact } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import * as Words from "../show/Words.js"
import { Written } from "../show/Written.js"
import { payloadFacts } from "./ProposalPayload.js"

export type Operation = Answer<"transactions", "lookup">["transaction"]

export const ProposalLink = ({ id }: { readonly id: number }) => (
  <a href={Route.subject("proposal", id)}>proposal #{id}</a>
)

/** The fields by type. With `isWhole`, addresses are neither abbreviated nor replaced by names. */
export const factsOf = (operation: Operation, isWhole = false): ReadonlyArray<Fact> => {
  switch (operation.type) {
    case "Transfer":
      return [
        ["To", <Account account={operation.to} isWhole={isWhole} />],
        ["Amount", <Amount sats={operation.amount} />],
        [
          "Memo",
          operation.memo === undefined ? undefined : (
            <q class="memo">
              <Written text={operation.memo} />
            </q>
          ),
        ],
      ]
    case "StakeTx":
      return [["Amount", <Amount sats={operation.amount} />]]
    case "DelegateTx":
      return [
        ["Validator", <Account account={operation.validator} isWhole={isWhole} />],
        ["Amount", <Amount sats={operation.amount} />],
      ]
    case "UnstakeTx":
    case "UndelegateTx":
      return [["Amount", "everything"]]
    case "SetCommissionTx":
      return [["Commission", `${operation.commission_percent} %`]]
    case "CreateProposalTx":
      return [
        ["Title", <Written text={operation.title} />],
        [
          "Description",
          operation.description === "" ? (
            "–"
          ) : (
            <span class="prose">
              <Written text={operation.description} />
            </span>
          ),
        ],
        ...payloadFacts(Proposal.fieldsOf(operation.proposal_type), false, isWhole),
      ]
    case "VoteTx":
      return [
        ["Proposal", <ProposalLink id={operation.proposal_id} />],
        ["Vote", operation.vote ? "yes" : "no"],
      ]
    case "RegisterNameTx":
      return [["Name", <a href={Route.subject("address", `@${operation.name}`)}>@{operation.name}</a>]]
    case "RotateKeyTx":
      return [["New validator key", <Reference.Text text={operation.validator_key} what="public key" />]]
    case "SetAccountPolicyTx":
      return [
        ["Policy", `${operation.threshold} of ${Words.counted(operation.keys.length, "key")}`],
        [
          "Keys",
          <ul class="hashes">
            {operation.keys.map((key) => (
              <li key={key}>
                <Reference.Text text={key} what="public key" />
              </li>
            ))}
          </ul>,
        ],
      ]
  }
}
