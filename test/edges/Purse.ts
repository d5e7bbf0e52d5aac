/** What an adversary can do with its accounts and keys: transactions with all edge values, signed with its own keys. */

import type { Reads } from "../../src/ledger/Reads.js"
import type { Genesis } from "../../src/protocol/epoch/Genesis.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import type * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import type { Chance } from "../simulation/Chance.js"
import type { Signer } from "../simulation/Scheme.js"
import type { Person } from "../simulation/World.js"
import { Accounts } from "./Accounts.js"
import { Transactions } from "./Transactions.js"

export interface Owner {
  readonly genesis: Genesis
  /** The people whose keys it has. */
  readonly own: ReadonlyArray<Person>
  /** Other people that it knows. */
  readonly others: ReadonlyArray<Person>
  /** The parameters that its proposals can change. */
  readonly parameters: ReadonlyArray<Parameters.Entry>
  readonly read: () => Reads
}

export class Purse {
  readonly #chance: Chance
  readonly #networkId: NetworkId
  readonly #read: () => Reads
  readonly #own: ReadonlyArray<Person>
  readonly #drawn: Transactions<Person>
  /** Nonces of transactions that are under way and not in the ledger yet. */
  readonly #used = new Map<Address, number>()

  constructor(chance: Chance, { genesis, own, others, parameters, read }: Owner) {
    this.#chance = chance
    this.#networkId = genesis.networkId
    this.#read = read
    this.#own = own
    this.#drawn = new Transactions(chance, new Accounts(own, read), new Accounts([...own, ...others], read), {
      keyOf: ({ signer }) => signer.publicKey,
      nextNonce: (address) => this.#nextNonce(address),
      parameters,
      epochRounds: genesis.protocol.epochRounds,
    })
  }

  /** A transaction that is well-formed as far as its sender could tell. */
  next(): Transaction.Transaction {
    const { unsigned, signers, isPolicy } = this.#drawn.next()
    return this.sign(
      unsigned,
      signers.map(({ signer }) => signer),
      isPolicy,
    )
  }

  /** Another sender's transaction under valid signatures of wrong keys. */
  usurped({ from, nonce, fee, operation }: Transaction.Transaction): Transaction.Transaction {
    const signers = Array.from(
      { length: this.#chance.percent(80) ? 1 : this.#chance.between(2, 4) },
      () => this.#chance.pick(this.#own).signer,
    )
    return this.sign({ from, nonce, fee, operation }, signers, signers.length > 1 || this.#chance.percent(20))
  }

  sign(unsigned: Transaction.Unsigned, signers: ReadonlyArray<Signer>, isPolicy = false): Transaction.Transaction {
    const bytes = Transaction.signedBytes(this.#networkId, unsigned)
    const distinct = [...new Map(signers.map((signer) => [signer.publicKey, signer])).values()]
    const signatures = distinct.map((signer) => ({ publicKey: signer.publicKey, signature: signer.sign(bytes) }))
    const [first] = signatures
    if (first === undefined) throw new RangeError("nobody signs")
    return Transaction.make(
      this.#networkId,
      unsigned,
      isPolicy ? { _tag: "Policy", signatures } : { _tag: "SingleKey", ...first },
    )
  }

  #nextNonce(address: Address): number {
    const next = this.#read().account(address).nonce
    const used = Math.max(next, this.#used.get(address) ?? 0)
    // Repeats the nonce of a transaction that never arrived.
    const nonce = this.#chance.percent(30) || used > next + 8 ? next : used
    this.#used.set(address, nonce + 1)
    return nonce
  }
}
