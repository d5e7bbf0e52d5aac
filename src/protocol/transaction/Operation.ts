/** The operations that a transaction can request, and their bytes. `_tag` is the `type` of the wire. */

import type { Reader, Writer } from "../encoding/Binary.js"
import type { JsonProblem } from "../encoding/JsonProblem.js"
import * as Address from "../identity/Address.js"
import type { PublicKey, Signature } from "../identity/Keys.js"
import { readPublicKey, readSignature } from "../identity/Keys.js"
import * as Name from "../identity/Name.js"
import * as Limits from "../numbers/Limits.js"
import * as Natural from "../numbers/Natural.js"
import { MIN_STAKE_SATS, type Sats } from "../numbers/Sats.js"
import * as Words from "../numbers/Words.js"
import * as ProposalPayload from "./ProposalPayload.js"

export interface Transfer {
  readonly _tag: "Transfer"
  readonly to: Address.Address
  readonly amount: Sats
  /** Empty if there is none. */
  readonly memo: string
}

export interface Stake {
  readonly _tag: "StakeTx"
  readonly amount: Sats
}

export interface Unstake {
  readonly _tag: "UnstakeTx"
}

export interface Delegate {
  readonly _tag: "DelegateTx"
  readonly validator: Address.Address
  readonly amount: Sats
}

export interface Undelegate {
  readonly _tag: "UndelegateTx"
}

export interface SetCommission {
  readonly _tag: "SetCommissionTx"
  readonly commissionPercent: number
}

export interface CreateProposal {
  readonly _tag: "CreateProposalTx"
  readonly title: string
  readonly description: string
  readonly payload: ProposalPayload.ProposalPayload
}

export interface Vote {
  readonly _tag: "VoteTx"
  readonly proposalId: Natural.ProposalId
  readonly vote: boolean
}

export interface RegisterName {
  readonly _tag: "RegisterNameTx"
  readonly name: Name.Name
}

export interface SetAccountPolicy {
  readonly _tag: "SetAccountPolicyTx"
  readonly threshold: number
  readonly keys: ReadonlyArray<PublicKey>
}

/** Changes the key with which a validator signs vertices and checkpoints, from the next epoch on. */
export interface RotateKey {
  readonly _tag: "RotateKeyTx"
  readonly validatorKey: PublicKey
  /** By the new key: see `Possession`. */
  readonly proof: Signature
}

export type Operation =
  | Transfer
  | Stake
  | Unstake
  | Delegate
  | Undelegate
  | SetCommission
  | CreateProposal
  | Vote
  | RegisterName
  | SetAccountPolicy
  | RotateKey

export type Type = Operation["_tag"]

export const TYPE_BYTE = {
  Transfer: 1,
  StakeTx: 2,
  UnstakeTx: 3,
  DelegateTx: 4,
  UndelegateTx: 5,
  SetCommissionTx: 6,
  CreateProposalTx: 7,
  VoteTx: 8,
  RegisterNameTx: 9,
  SetAccountPolicyTx: 10,
  RotateKeyTx: 11,
} as const satisfies { readonly [T in Type]: number }

const violation = (field: string, reason: string): JsonProblem => ({ field, reason })

/**
 * Why an operation is invalid on every network, by its field on the wire. The same rules apply to JSON and to bytes.
 */
export const violationOf = (operation: Operation): JsonProblem | undefined => {
  switch (operation._tag) {
    case "Transfer":
    case "DelegateTx":
      return operation.amount < 1 ? violation("amount", "must be at least 1") : undefined
    case "StakeTx":
      return operation.amount < MIN_STAKE_SATS
        ? violation("amount", `must be at least ${Words.amount(MIN_STAKE_SATS)}`)
        : undefined
    case "SetCommissionTx":
      return operation.commissionPercent > 100 ? violation("commission_percent", "must be from 0 to 100") : undefined
    case "CreateProposalTx":
      return operation.title === "" ? violation("title", "must not be empty") : payloadViolation(operation.payload)
    case "SetAccountPolicyTx":
      return policyViolation(operation)
    case "UnstakeTx":
    case "UndelegateTx":
    case "VoteTx":
    case "RegisterNameTx":
    case "RotateKeyTx":
      return undefined
  }
}

const payloadViolation = (payload: ProposalPayload.ProposalPayload): JsonProblem | undefined => {
  const found = ProposalPayload.violationOf(payload)
  return found && violation(`proposal_type.${payload._tag}.${found.field}`, found.reason)
}

const policyViolation = ({ threshold, keys }: SetAccountPolicy): JsonProblem | undefined => {
  if (keys.length < 1 || keys.length > Limits.POLICY_KEYS) {
    return violation("keys", `must be 1 to ${Limits.POLICY_KEYS} public keys`)
  }
  if (new Set(keys).size !== keys.length) return violation("keys", "must be distinct")
  if (threshold < 1 || threshold > keys.length) {
    return violation("threshold", `must be from 1 to the number of keys, ${keys.length}`)
  }
  return undefined
}

export const write = (writer: Writer, operation: Operation): Writer => {
  switch (operation._tag) {
    case "Transfer":
      return writer.hex(operation.to).u64(operation.amount).text16(operation.memo)
    case "StakeTx":
      return writer.u64(operation.amount)
    case "UnstakeTx":
    case "UndelegateTx":
      return writer
    case "DelegateTx":
      return writer.hex(operation.validator).u64(operation.amount)
    case "SetCommissionTx":
      return writer.u8(operation.commissionPercent)
    case "CreateProposalTx":
      return ProposalPayload.write(writer.text16(operation.title).text16(operation.description), operation.payload)
    case "VoteTx":
      return writer.u64(operation.proposalId).boolean(operation.vote)
    case "RegisterNameTx":
      return writer.text8(operation.name)
    case "SetAccountPolicyTx":
      return writer.u8(operation.threshold).list8(operation.keys, (key) => writer.hex(key))
    case "RotateKeyTx":
      return writer.hex(operation.validatorKey).hex(operation.proof)
  }
}

/** By type byte, so that the compiler requires a reader for every type. */
const READ: {
  readonly [T in Type as (typeof TYPE_BYTE)[T]]: (reader: Reader) => Extract<Operation, { readonly _tag: T }>
} = {
  [TYPE_BYTE.Transfer]: (reader) => ({
    _tag: "Transfer",
    to: Address.read(reader),
    amount: reader.sats(),
    memo: reader.text16(Limits.MEMO_BYTES),
  }),
  [TYPE_BYTE.StakeTx]: (reader) => ({ _tag: "StakeTx", amount: reader.sats() }),
  [TYPE_BYTE.UnstakeTx]: () => ({ _tag: "UnstakeTx" }),
  [TYPE_BYTE.DelegateTx]: (reader) => ({ _tag: "DelegateTx", validator: Address.read(reader), amount: reader.sats() }),
  [TYPE_BYTE.UndelegateTx]: () => ({ _tag: "UndelegateTx" }),
  [TYPE_BYTE.SetCommissionTx]: (reader) => ({ _tag: "SetCommissionTx", commissionPercent: reader.u8() }),
  [TYPE_BYTE.CreateProposalTx]: (reader) => ({
    _tag: "CreateProposalTx",
    title: reader.text16(Limits.TITLE_BYTES),
    description: reader.text16(Limits.DESCRIPTION_BYTES),
    payload: ProposalPayload.read(reader),
  }),
  [TYPE_BYTE.VoteTx]: (reader) => ({
    _tag: "VoteTx",
    proposalId: Natural.proposalId(reader.u64()),
    vote: reader.boolean(),
  }),
  [TYPE_BYTE.RegisterNameTx]: (reader) => ({ _tag: "RegisterNameTx", name: Name.read(reader) }),
  [TYPE_BYTE.SetAccountPolicyTx]: (reader) => ({
    _tag: "SetAccountPolicyTx",
    threshold: reader.u8(),
    keys: reader.list8(Limits.POLICY_KEYS, () => readPublicKey(reader)),
  }),
  [TYPE_BYTE.RotateKeyTx]: (reader) => ({
    _tag: "RotateKeyTx",
    validatorKey: readPublicKey(reader),
    proof: readSignature(reader),
  }),
}

const isTypeByte = (byte: number): byte is keyof typeof READ => byte in READ

/** Reads the body of a transaction of this type byte, and refuses every violation that `violationOf` finds. */
export const read = (reader: Reader, typeByte: number): Operation => {
  if (!isTypeByte(typeByte)) {
    reader.fail(`transaction type ${typeByte}`)
    return { _tag: "UnstakeTx" }
  }
  const operation = READ[typeByte](reader)
  const found = reader.failure === undefined ? violationOf(operation) : undefined
  if (found !== undefined) reader.fail(`${found.field} ${found.reason}`)
  return operation
}
