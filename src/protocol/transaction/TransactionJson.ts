/**
 * Transactions as JSON, for `/tx/submit` and every lookup. The schemas define the format of each field; `fromJson` of
 * `JsonForm.ts` checks the rules that depend on the network or on several fields.
 */
import { type Either, Schema } from "effect"
import * as Json from "../encoding/Json.js"
import type { JsonProblem } from "../encoding/JsonProblem.js"
import * as Text from "../encoding/Text.js"
import * as Address from "../identity/Address.js"
import { PublicKey, Signature } from "../identity/Keys.js"
import * as Name from "../identity/Name.js"
import * as Limits from "../numbers/Limits.js"
import * as Natural from "../numbers/Natural.js"
import * as Sats from "../numbers/Sats.js"
import type * as Operation from "./Operation.js"

const Nonce = Natural.schema<Natural.Nonce>("the sender's next unused number, counted from 0")
const Percent = Natural.between(0, 100, "percent")
const Threshold = Natural.between(1, Limits.POLICY_KEYS, "how many of the keys must sign")

/** `Schema.Struct({})` would accept any value but null. */
const Empty = Schema.Struct({}).pipe(
  // biome-ignore lint/plugin: how many keys there are does not depend on their order
  Schema.filter((value) => typeof value === "object" && !Array.isArray(value) && Reflect.ownKeys(value).length === 0, {
    jsonSchema: { type: "object", maxProperties: 0 },
    message: () => "an empty object",
  }),
)

export const ProposalType = Schema.Union(
  Schema.Struct({ Text: Empty }).annotations({ identifier: "TextProposal" }),
  Schema.Struct({
    ParameterChange: Schema.Struct({
      param: Text.schema(1, Limits.PARAMETER_NAME_BYTES),
      value: Natural.count("the parameter's new value"),
    }),
  }).annotations({ identifier: "ParameterChangeProposal" }),
  Schema.Struct({
    CouncilMembership: Schema.Struct({ action: Schema.Literal("add", "remove"), address: Address.text }),
  }).annotations({ identifier: "CouncilMembershipProposal" }),
  Schema.Struct({ TreasurySpend: Schema.Struct({ recipient: Address.text, amount: Sats.schema }) }).annotations({
    identifier: "TreasurySpendProposal",
  }),
).annotations({ identifier: "ProposalType" })

const KeySignatureJson = Schema.Struct({ pub_key: PublicKey, signature: Signature }).annotations({
  identifier: "KeySignature",
})

/** Fields of every type. A smart account has `signatures`, every other account `pub_key` and `signature`. */
const envelope = {
  from: Address.text,
  nonce: Nonce,
  pub_key: Schema.optionalWith(PublicKey, { exact: true }),
  signature: Schema.optionalWith(Signature, { exact: true }),
  signatures: Schema.optionalWith(
    Schema.Array(KeySignatureJson).pipe(
      Schema.minItems(1),
      Schema.maxItems(Limits.POLICY_KEYS, { description: "signatures of a smart account's keys" }),
    ),
    { exact: true },
  ),
}

const of = <const T extends Operation.Type, Fields extends Schema.Struct.Fields>(type: T, fields: Fields) =>
  Schema.Struct({ type: Schema.Literal(type), ...envelope, ...fields }).annotations({ identifier: type })

const fee = Sats.schema
const exemptFee = Schema.optionalWith(Sats.schema, { exact: true })

export const TransactionJson = Schema.Union(
  of("Transfer", {
    to: Address.text,
    amount: Sats.schema,
    memo: Schema.optionalWith(Text.schema(0, Limits.MEMO_BYTES), { exact: true }),
    fee,
  }),
  of("StakeTx", { amount: Sats.schema, fee: exemptFee }),
  of("UnstakeTx", { fee: exemptFee }),
  of("DelegateTx", { validator: Address.text, amount: Sats.schema, fee: exemptFee }),
  of("UndelegateTx", { fee: exemptFee }),
  of("SetCommissionTx", { commission_percent: Percent, fee: exemptFee }),
  of("CreateProposalTx", {
    title: Text.schema(1, Limits.TITLE_BYTES),
    description: Text.schema(0, Limits.DESCRIPTION_BYTES),
    proposal_type: ProposalType,
    fee,
  }),
  of("VoteTx", {
    proposal_id: Natural.schema<Natural.ProposalId>("the proposal's id"),
    vote: Schema.Boolean,
    fee,
  }),
  of("RegisterNameTx", { name: Name.schema, fee }),
  of("SetAccountPolicyTx", {
    threshold: Threshold,
    keys: Schema.Array(PublicKey).pipe(
      Schema.minItems(1),
      Schema.maxItems(Limits.POLICY_KEYS, { description: "the keys that may sign" }),
    ),
    fee,
  }),
  of("RotateKeyTx", { validator_key: PublicKey, proof: Signature, fee }),
).annotations({ identifier: "Transaction", description: "a signed transaction" })

export type TransactionJson = typeof TransactionJson.Type
export type ProposalType = typeof ProposalType.Type

/** JSON of the right shape, or the first field that is not. Unknown fields are refused. */
export const decode: (input: unknown) => Either.Either<TransactionJson, JsonProblem> = Json.decoder(
  TransactionJson,
  "transaction",
)
