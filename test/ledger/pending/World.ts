/** Accounts that a pool asks about, with the ledger's order of checks and none of its rules but nonce and balance. */
import type { Door } from "../../../src/ledger/pending/PendingTransactions.js"
import type { Rejection } from "../../../src/ledger/rules/Rejection.js"
import { insufficient } from "../../../src/ledger/rules/Rejection.js"
import * as Transactions from "../../../src/ledger/rules/Transactions.js"
import * as Limits from "../../../src/protocol/numbers/Limits.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"
import type { Operation } from "../../../src/protocol/transaction/Operation.js"
import type { Transaction } from "../../../src/protocol/transaction/Transaction.js"
import { person, transaction } from "../builders.js"

export class World implements Door {
  readonly #accounts = new Map<string, { nonce: Natural.Nonce; balance: Sats.Sats }>()

  set(from: string, nonce: number, balance: number): void {
    this.#accounts.set(from, { nonce: Natural.nonce(nonce), balance: Sats.make(balance) })
  }

  account(from: string): { readonly nonce: Natural.Nonce; readonly balance: Sats.Sats } {
    return this.#accounts.get(from) ?? { nonce: Natural.nonce(0), balance: Sats.ZERO }
  }

  spending(candidate: Transaction): number {
    return Transactions.spendingOf(candidate, Parameters.solo)
  }

  hasEffect(): boolean {
    return true
  }

  admission(candidate: Transaction, reserved: number): Rejection | undefined {
    const { nonce: next, balance } = this.account(candidate.from)
    const { nonce } = candidate
    if (nonce < next) return { _tag: "NonceTooLow", nonce, next }
    if (nonce >= next + Limits.NONCE_WINDOW) return { _tag: "NonceTooHigh", nonce, next }
    const needed = this.spending(candidate)
    return needed > balance - reserved ? insufficient(needed, balance, reserved) : undefined
  }
}

const pay: Operation = { _tag: "Transfer", to: person("shop").address, amount: Sats.make(1), memo: "" }
const leave: Operation = { _tag: "UndelegateTx" }

export const paying = (name: string, nonce: number, fee: number, bytes = 200): Transaction => ({
  ...transaction(person(name), { operation: pay, fee, nonce }),
  encoded: new Uint8Array(bytes),
})

export const exempt = (name: string, nonce: number, fee = 0, bytes = 200): Transaction => ({
  ...transaction(person(name), { operation: leave, fee, nonce }),
  encoded: new Uint8Array(bytes),
})

export const addressOf = (name: string) => person(name).address
