/**
 * Accounts with a few coins whose transactions cost every node work and never pay: they skip the first nonce and raise
 * the fees of later ones by the minimum.
 */
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import type { Chance } from "./Chance.js"
import type { Person } from "./World.js"

const NONCES = 63
const FIRST_FEE = 3_000
const MOST_PER_MESSAGE = 4

export class Freeloaders {
  readonly #chance: Chance
  readonly #networkId: NetworkId
  readonly #people: ReadonlyArray<Person>
  readonly #fees = new Map<string, number>()

  constructor(chance: Chance, networkId: NetworkId, people: ReadonlyArray<Person>) {
    this.#chance = chance
    this.#networkId = networkId
    this.#people = people
  }

  next(): ReadonlyArray<Transaction.Transaction> {
    const person = this.#chance.pick(this.#people)
    return Array.from({ length: this.#chance.between(1, MOST_PER_MESSAGE) }, () => this.#raised(person))
  }

  #raised({ name, address: from, signer }: Person): Transaction.Transaction {
    const nonce = this.#chance.between(1, NONCES)
    const slot = `${name} ${nonce}`
    const fee = Math.ceil((this.#fees.get(slot) ?? FIRST_FEE) * 1.11)
    this.#fees.set(slot, fee)
    const operation = { _tag: "Transfer", to: from, amount: Sats.make(1), memo: "" } as const
    const unsigned = { from, nonce: Natural.nonce(nonce), fee: Sats.make(fee), operation }
    const signature = signer.sign(Transaction.signedBytes(this.#networkId, unsigned))
    const authorization = { _tag: "SingleKey", publicKey: signer.publicKey, signature } as const
    return Transaction.make(this.#networkId, unsigned, authorization)
  }
}
