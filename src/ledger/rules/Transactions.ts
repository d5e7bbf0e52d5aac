/**
 * Checks a transaction completely, then applies it, so nothing is ever rolled back. Admission to the mempool uses the
 * same rules and therefore the same messages.
 */
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Parameters } from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Words from "../../protocol/numbers/Words.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { Operation, Transfer } from "../../protocol/transaction/Operation.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import { NONE, type Row } from "../tables/AccountRows.js"
import { LOOKUPS_PER_BATCH } from "../tables/AddressIndex.js"
import type { State } from "../tables/State.js"
import * as Delegation from "./Delegation.js"
import type { Outcome } from "./Execution.js"
import * as Governance from "./Governance.js"
import * as KeyRotation from "./KeyRotation.js"
import * as Names from "./Names.js"
import * as Policies from "./Policies.js"
import * as Rejection from "./Rejection.js"
import * as Staking from "./Staking.js"

/** The amount that a pending transaction reserves. A plain number, since the sum can exceed the whole supply. */
export const spendingOf = ({ fee, operation }: Transaction, prices: Pick<Parameters, "proposalBond">): number =>
  fee + Charges.amountOf(operation, prices)

/** `forAccount`: the part of the minimum that pays for the account that the transfer creates. */
const feeBelowMinimum = (fee: Sats.Sats, minimum: number, forAccount = 0): Rejection.Rejection => {
  const part = forAccount === 0 ? "" : `, ${Words.amount(forAccount)} of it because the recipient has no account yet`
  const reason = `the fee is ${Words.amount(fee)}; at least ${Words.amount(minimum)} is required${part}`
  return Rejection.invalid("fee_below_minimum", reason)
}

/**
 * The price of the account that a transfer would create now. `recipient` is its row, if known; an earlier transaction
 * may have created it meanwhile.
 */
const accountFeeOf = (state: State, operation: Operation, recipient?: Row): number => {
  if (operation._tag !== "Transfer") return 0
  const { accounts, parameters } = state
  return accounts.recorded(recipient ?? accounts.find(operation.to)) === undefined ? parameters.accountFee : 0
}

const operationRejection = (state: State, transaction: Transaction, row: Row | undefined): Rejection.Verdict => {
  const { from, operation } = transaction
  switch (operation._tag) {
    case "Transfer":
    case "SetAccountPolicyTx":
      return undefined
    case "StakeTx":
      return Staking.stakeRejection(state, from, row)
    case "UnstakeTx":
      return Staking.unstakeRejection(state, row)
    case "SetCommissionTx":
      return Staking.commissionRejection(state, from, row)
    case "DelegateTx":
      return Delegation.delegateRejection(state, from, row, operation)
    case "UndelegateTx":
      return Delegation.undelegateRejection(state, row)
    case "CreateProposalTx":
      return Governance.proposalRejection(state, from, row, operation)
    case "VoteTx":
      return Governance.voteRejection(state, from, operation)
    case "RegisterNameTx":
      return Names.registerRejection(state, row, operation)
    case "RotateKeyTx":
      return KeyRotation.rejection(state, from, row, operation)
  }
}

/**
 * Checks every rule of the operation, the minimum fee including the price of a new account, and the balance; `reserved`
 * is the sender's pending total. No computation uses the amount before the balance is known to cover it: until then it
 * is an arbitrary number.
 */
const ruleRejection = (
  state: State,
  transaction: Transaction,
  row: Row | undefined,
  forAccount: number,
  reserved: number,
): Rejection.Verdict => {
  const { fee, operation } = transaction
  const minimum = Charges.leastFee(operation._tag, state.parameters) + forAccount
  if (fee < minimum) return feeBelowMinimum(fee, minimum, forAccount)
  const rejection = operationRejection(state, transaction, row)
  if (rejection !== undefined) return rejection
  const needed = spendingOf(transaction, state.parameters)
  const balance = state.accounts.balance(row)
  if (needed > balance - reserved) return Rejection.insufficient(needed, balance, reserved)
  return operation._tag === "DelegateTx" ? Delegation.depositRejection(state, operation) : undefined
}

const advanceNonce = (state: State, row: Row): void =>
  state.accounts.setNonce(row, Natural.nonce(state.accounts.nonce(row) + 1))

/**
 * A name's fee and the price of a new account go to the treasury, the rest to the author. Returns the treasury's part.
 */
const payFee = (
  state: State,
  row: Row,
  author: Row,
  { fee, operation }: Transaction,
  forAccount: number,
): Sats.Sats => {
  const toTreasury = operation._tag === "RegisterNameTx" ? fee : Sats.make(forAccount)
  state.debit(row, toTreasury)
  state.supply.increase("treasury", toTreasury)
  state.pay(row, author, Sats.subtractBounded(fee, toTreasury))
  return toTreasury
}

const applyTransfer = (state: State, row: Row, recipient: Row | undefined, { to, amount }: Transfer): void =>
  state.pay(row, recipient ?? state.accounts.findOrAdd(to), amount)

const apply = (
  state: State,
  transaction: Transaction,
  row: Row,
  recipient: Row | undefined,
  author: Row,
  forAccount: number,
): Outcome => {
  const { from, operation, authorization, fee } = transaction
  advanceNonce(state, row)
  const toTreasury = payFee(state, row, author, transaction, forAccount)
  const applied = (taken: Sats.Sats, proposalId: Natural.ProposalId | null = null): Outcome => ({
    _tag: "Applied",
    fee,
    toTreasury,
    taken,
    proposalId,
  })
  switch (operation._tag) {
    case "Transfer":
      applyTransfer(state, row, recipient, operation)
      return applied(operation.amount)
    case "StakeTx":
      Staking.applyStake(
        state,
        from,
        row,
        operation,
        authorization._tag === "SingleKey" ? authorization.publicKey : null,
      )
      return applied(operation.amount)
    case "UnstakeTx":
      Staking.applyUnstake(state, row)
      return applied(Sats.ZERO)
    case "SetCommissionTx":
      Staking.applyCommission(state, from, operation)
      return applied(Sats.ZERO)
    case "DelegateTx":
      return applied(Delegation.applyDelegate(state, row, operation))
    case "UndelegateTx":
      Delegation.applyUndelegate(state, row)
      return applied(Sats.ZERO)
    case "CreateProposalTx":
      return applied(
        Sats.make(state.parameters.proposalBond),
        Governance.applyProposal(state, transaction, row, operation),
      )
    case "VoteTx":
      Governance.applyVote(state, from, operation)
      return applied(Sats.ZERO)
    case "RegisterNameTx":
      Names.applyRegister(state, row, operation)
      return applied(Sats.ZERO)
    case "SetAccountPolicyTx":
      Policies.applyPolicy(state, row, transaction, operation)
      return applied(Sats.ZERO)
    case "RotateKeyTx":
      KeyRotation.apply(state, from, row, operation)
      return applied(Sats.ZERO)
  }
}

/** The lowest fee worth executing for: no parameter can set the minimum of a non-exempt type below it. */
const LEAST_FEE = 1

/**
 * Why a transaction has no effect: nothing is charged and its nonce stays free. A transaction that passes this check
 * and then fails pays at least a sat.
 */
const noEffect = (state: State, transaction: Transaction, row: Row | undefined): Rejection.Verdict => {
  const { nonce, fee, operation } = transaction
  const next = state.accounts.nonce(row)
  if (nonce !== next) return { _tag: nonce < next ? "NonceTooLow" : "NonceTooHigh", nonce, next }
  const balance = state.accounts.balance(row)
  if (fee > balance) return Rejection.insufficient(fee, balance)
  if (fee < LEAST_FEE && !Charges.isExempt(operation._tag)) {
    return feeBelowMinimum(fee, Charges.leastFee(operation._tag, state.parameters))
  }
  return Policies.signatureRejection(state, row, transaction)
}

/**
 * The fee of a failed transaction. A fee-exempt one still pays to fail. Any other pays the signed fee and no more, even
 * if a vote has raised the minimum in the meantime.
 */
const feeOfFailure = (state: State, { fee, operation }: Transaction): Sats.Sats =>
  Charges.isExempt(operation._tag) ? Sats.max(fee, Sats.make(state.parameters.minFee)) : fee

/** Transactions whose accounts, two of each, are looked up together. */
const TRANSACTIONS_PER_BATCH = LOOKUPS_PER_BATCH >>> 1

/** Executes the transactions of a vertex by this author in order, and announces each before it starts. */
export const executeAll = (
  state: State,
  transactions: ReadonlyArray<Transaction>,
  author: Row,
  isNext: (transaction: Transaction) => void,
): ReadonlyArray<Outcome> => {
  const outcomes: Array<Outcome> = []
  for (let start = 0; start < transactions.length; start += TRANSACTIONS_PER_BATCH) {
    const batch = transactions.slice(start, start + TRANSACTIONS_PER_BATCH)
    const addresses: Array<Address> = []
    for (const transaction of batch) {
      const { from, operation } = transaction
      addresses.push(from, Charges.recipientOf(operation) ?? from)
    }
    const rows = state.accounts.findAll(addresses)
    let at = 0
    for (const transaction of batch) {
      isNext(transaction)
      outcomes.push(execute(state, transaction, found(rows[at++]), found(rows[at++]), author))
    }
  }
  return outcomes
}

const found = (row: number | undefined): Row | undefined => (row === NONE ? undefined : row)

/** Existing rows stay valid; a missing one may have been created by an earlier transaction. */
const execute = (
  state: State,
  transaction: Transaction,
  sender: Row | undefined,
  recipient: Row | undefined,
  author: Row,
): Outcome => {
  const row = state.accounts.recorded(sender ?? state.accounts.find(transaction.from))
  const obstacle = noEffect(state, transaction, row)
  if (obstacle !== undefined) return { _tag: "NoEffect", reason: obstacle }
  const forAccount = accountFeeOf(state, transaction.operation, recipient)
  const reason = ruleRejection(state, transaction, row, forAccount, 0)
  // An account without a record has nothing that a transaction could take or change.
  if (row === undefined) return { _tag: "NoEffect", reason: reason ?? Rejection.insufficient(LEAST_FEE, 0) }
  if (reason === undefined) return apply(state, transaction, row, recipient, author, forAccount)
  const fee = feeOfFailure(state, transaction)
  if (fee > state.accounts.balance(row)) return { _tag: "NoEffect", reason }
  advanceNonce(state, row)
  state.pay(row, author, fee)
  return { _tag: "Failed", fee, reason }
}

/** Whether the transaction, executed now, would be applied or would fail and pay its fee. */
export const hasEffect = (state: State, transaction: Transaction): boolean => {
  const row = state.accounts.recorded(state.accounts.find(transaction.from))
  if (row === undefined || noEffect(state, transaction, row) !== undefined) return false
  const forAccount = accountFeeOf(state, transaction.operation)
  const isApplied = ruleRejection(state, transaction, row, forAccount, 0) === undefined
  return isApplied || feeOfFailure(state, transaction) <= state.accounts.balance(row)
}

/** Checks signature, nonce, rules and balance, in this order. */
export const admissionRejection = (state: State, transaction: Transaction, reserved: number): Rejection.Verdict => {
  const row = state.accounts.recorded(state.accounts.find(transaction.from))
  const signature = Policies.signatureRejection(state, row, transaction)
  if (signature !== undefined) return signature
  const { nonce } = transaction
  const next = state.accounts.nonce(row)
  if (nonce < next) return { _tag: "NonceTooLow", nonce, next }
  if (nonce >= next + Limits.NONCE_WINDOW) return { _tag: "NonceTooHigh", nonce, next }
  return ruleRejection(state, transaction, row, accountFeeOf(state, transaction.operation), reserved)
}
