/**
 * Converts between a transaction and its JSON, in the form of `TransactionJson`. Free of schemas, so that wallets need
 * none. Implements the rules that depend on the network (the address prefix) or on several fields.
 */
import { Either } from "effect"
import type { JsonProblem } from "../encoding/JsonProblem.js"
import * as Address from "../identity/Address.js"
import type { AddressPrefix, NetworkId } from "../identity/Network.js"
import * as Sats from "../numbers/Sats.js"
import * as Operation from "./Operation.js"
import type * as ProposalPayload from "./ProposalPayload.js"
import * as Transaction from "./Transaction.js"
import type { ProposalType, TransactionJson } from "./TransactionJson.js"

/** The value, or the field for which every network would refuse the transaction. */
type Result<A> = Either.Either<A, JsonProblem>

const refuse = (field: string, reason: string): Result<never> => Either.left({ field, reason })

const address = (field: string, text: string, prefix: AddressPrefix): Result<Address.Address> =>
  Either.mapLeft(Address.parse(text, prefix), ({ message }) => ({ field, reason: message }))

/** The payload that a `proposal_type` object describes on this network. */
export const payloadFromJson = (json: ProposalType, prefix: AddressPrefix): Result<ProposalPayload.ProposalPayload> => {
  if ("Text" in json) return Either.right({ _tag: "Text" })
  if ("ParameterChange" in json) return Either.right({ _tag: "ParameterChange", ...json.ParameterChange })
  if ("CouncilMembership" in json) {
    const { action, address: text } = json.CouncilMembership
    return Either.map(address("proposal_type.CouncilMembership.address", text, prefix), (address) => ({
      _tag: "CouncilMembership",
      action,
      address,
    }))
  }
  const { recipient: text, amount } = json.TreasurySpend
  return Either.map(address("proposal_type.TreasurySpend.recipient", text, prefix), (recipient) => ({
    _tag: "TreasurySpend",
    recipient,
    amount,
  }))
}

const payloadToJson = (payload: ProposalPayload.ProposalPayload): ProposalType => {
  switch (payload._tag) {
    case "Text":
      return { Text: {} }
    case "ParameterChange":
      return { ParameterChange: { param: payload.param, value: payload.value } }
    case "CouncilMembership":
      return { CouncilMembership: { action: payload.action, address: payload.address } }
    case "TreasurySpend":
      return { TreasurySpend: { recipient: payload.recipient, amount: payload.amount } }
  }
}

const operationFromJson = (json: TransactionJson, prefix: AddressPrefix): Result<Operation.Operation> => {
  switch (json.type) {
    case "Transfer":
      return Either.map(address("to", json.to, prefix), (to) => ({
        _tag: json.type,
        to,
        amount: json.amount,
        memo: json.memo ?? "",
      }))
    case "StakeTx":
      return Either.right({ _tag: json.type, amount: json.amount })
    case "UnstakeTx":
    case "UndelegateTx":
      return Either.right({ _tag: json.type })
    case "DelegateTx":
      return Either.map(address("validator", json.validator, prefix), (validator) => ({
        _tag: json.type,
        validator,
        amount: json.amount,
      }))
    case "SetCommissionTx":
      return Either.right({ _tag: json.type, commissionPercent: json.commission_percent })
    case "CreateProposalTx":
      return Either.map(payloadFromJson(json.proposal_type, prefix), (payload) => ({
        _tag: json.type,
        title: json.title,
        description: json.description,
        payload,
      }))
    case "VoteTx":
      return Either.right({ _tag: json.type, proposalId: json.proposal_id, vote: json.vote })
    case "RegisterNameTx":
      return Either.right({ _tag: json.type, name: json.name })
    case "SetAccountPolicyTx":
      return Either.right({ _tag: json.type, threshold: json.threshold, keys: json.keys })
    case "RotateKeyTx":
      return Either.right({ _tag: json.type, validatorKey: json.validator_key, proof: json.proof })
  }
}

const authorizationFromJson = (json: TransactionJson): Result<Transaction.Authorization> => {
  const { pub_key: publicKey, signature, signatures } = json
  if (signatures !== undefined) {
    if (publicKey !== undefined || signature !== undefined) {
      return refuse("signatures", "send either pub_key and signature, or signatures, not both")
    }
    if (new Set(signatures.map(({ pub_key }) => pub_key)).size !== signatures.length) {
      return refuse("signatures", "every key can sign only once")
    }
    return Either.right({
      _tag: "Policy",
      signatures: signatures.map(({ pub_key, signature }) => ({ publicKey: pub_key, signature })),
    })
  }
  if (publicKey === undefined) return refuse("pub_key", "missing; expected a public key of 64 hex characters")
  if (signature === undefined) return refuse("signature", "missing; expected a signature of 128 hex characters")
  return Either.right({ _tag: "SingleKey", publicKey, signature })
}

/** The transaction that this JSON describes on a network. Signatures are not verified yet. */
export const fromJson = (
  networkId: NetworkId,
  prefix: AddressPrefix,
  json: TransactionJson,
): Result<Transaction.Transaction> => {
  const from = address("from", json.from, prefix)
  if (Either.isLeft(from)) return Either.left(from.left)
  const operation = operationFromJson(json, prefix)
  if (Either.isLeft(operation)) return Either.left(operation.left)
  const violation = Operation.violationOf(operation.right)
  if (violation !== undefined) return Either.left(violation)
  const authorization = authorizationFromJson(json)
  if (Either.isLeft(authorization)) return Either.left(authorization.left)
  const unsigned = { from: from.right, nonce: json.nonce, fee: json.fee ?? Sats.ZERO, operation: operation.right }
  return Either.right(Transaction.make(networkId, unsigned, authorization.right))
}

const authorizationToJson = (authorization: Transaction.Authorization) =>
  authorization._tag === "SingleKey"
    ? { pub_key: authorization.publicKey, signature: authorization.signature }
    : {
        signatures: authorization.signatures.map(({ publicKey, signature }) => ({ pub_key: publicKey, signature })),
      }

export const unsignedToJson = ({ operation, from, fee, nonce }: Transaction.Unsigned): TransactionJson => {
  const rest = { from, fee, nonce }
  switch (operation._tag) {
    case "Transfer": {
      const { to, amount, memo } = operation
      return { type: operation._tag, to, amount, ...(memo === "" ? {} : { memo }), ...rest }
    }
    case "StakeTx":
      return { type: operation._tag, amount: operation.amount, ...rest }
    case "UnstakeTx":
    case "UndelegateTx":
      return { type: operation._tag, ...rest }
    case "DelegateTx":
      return { type: operation._tag, validator: operation.validator, amount: operation.amount, ...rest }
    case "SetCommissionTx":
      return { type: operation._tag, commission_percent: operation.commissionPercent, ...rest }
    case "CreateProposalTx":
      return {
        type: operation._tag,
        title: operation.title,
        description: operation.description,
        proposal_type: payloadToJson(operation.payload),
        ...rest,
      }
    case "VoteTx":
      return { type: operation._tag, proposal_id: operation.proposalId, vote: operation.vote, ...rest }
    case "RegisterNameTx":
      return { type: operation._tag, name: operation.name, ...rest }
    case "SetAccountPolicyTx":
      return { type: operation._tag, threshold: operation.threshold, keys: operation.keys, ...rest }
    case "RotateKeyTx":
      return { type: operation._tag, validator_key: operation.validatorKey, proof: operation.proof, ...rest }
  }
}

/** The only form in which the node shows a transaction: hex addresses, the fee written out, no empty memo. */
export const toJson = (transaction: Transaction.Transaction): TransactionJson => ({
  ...unsignedToJson(transaction),
  ...authorizationToJson(transaction.authorization),
})
