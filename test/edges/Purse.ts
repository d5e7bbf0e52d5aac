/** What an adversary's accounts and keys can do: transactions at all edges, signed with keys that it has. */

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
  /** Whose keys it has. */
  readonly own: ReadonlyArray<Person>
  /** Whom else it knows. */
  readonly others: ReadonlyArray<Person>
  /** What its proposals may change. */
  readonly parameters: ReadonlyArray<Parameters.Entry>
  readonly read: () => Reads
}

export class Purse {
  readonly #chance: Chance
  readonly #networkId: NetworkId
  readonly #read: () => Reads
  readonly #own: ReadonlyArray<Person>
  readonly #drawn: Transactions<Person>
  /** What was used up since the ledger was last seen: nonces of what is on its way. */
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

  /** Well-formed, as far as who wrote it could tell. */
  next(): Transaction.Transaction {
    const { unsigned, signers, isPolicy } = this.#drawn.next()
    return this.sign(
      unsigned,
      signers.map(({ signer }) => signer),
      isPolicy,
    )
  }

  /** Somebody's bytes under signatures that hold, and are not theirs. */
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
    // What never came in is tried again.
    const nonce = this.#chance.percent(30) || used > next + 8 ? next : used
    this.#used.set(address, nonce + 1)
    return nonce
  }
}
