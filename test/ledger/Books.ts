/** Balances kept by somebody who sees only transactions with their outcomes, and postings. */

import { toHex } from "#crypto"
import type { Execution } from "../../src/ledger/rules/Execution.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { Genesis } from "../../src/protocol/epoch/Genesis.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"

export class Books {
  readonly #balances = new Map<string, bigint>()

  constructor({ allocations }: Pick<Genesis, "allocations">) {
    for (const { address, amount } of allocations) this.#add(address, amount)
  }

  #add(address: Address, amount: number): void {
    this.#balances.set(address, (this.#balances.get(address) ?? 0n) + BigInt(amount))
  }

  /** Enters a commit and compares every account that it changed. */
  enter(execution: Execution, vertices: ReadonlyArray<Vertex>): void {
    for (const [i, { transactions }] of execution.vertices.entries()) {
      for (const [j, outcome] of transactions.entries()) {
        const transaction = vertices[i]?.body.transactions[j]
        if (transaction === undefined) throw new Error("an outcome without its transaction")
        if (outcome._tag === "NoEffect") continue
        this.#add(transaction.from, -outcome.fee)
        if (outcome._tag === "Failed") continue
        this.#add(transaction.from, -outcome.taken)
        const { operation } = transaction
        if (operation._tag === "Transfer") this.#add(operation.to, operation.amount)
      }
    }
    for (const { kind, address, amount } of execution.postings) {
      if (kind !== "stake_slashed" && kind !== "delegations_slashed") this.#add(address, amount)
    }
    for (const { kind, key, value } of execution.changes) if (kind === "Account") this.#compare(toHex(key), value)
  }

  #compare(address: string, value: Uint8Array | null): void {
    const balance = value === null ? 0 : new Binary.Reader(value).u64()
    const booked = this.#balances.get(address) ?? 0n
    if (booked === BigInt(balance)) return
    throw new Error(`the entries of ${address} add up to ${booked}, and its balance is ${balance}`)
  }
}
