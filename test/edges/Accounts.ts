/** Kinds of accounts, determined by the ledger's current and earlier answers. */
import type { Reads } from "../../src/ledger/Reads.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import type { Draws } from "./Draws.js"

export interface Holder {
  readonly address: Address
}

interface Past {
  /** The account once had a record. */
  held: boolean
  /** The account once had coins, and then none. */
  emptied: boolean
}

interface Look {
  readonly record: AccountRecord.AccountRecord
  readonly stake: ReturnType<Reads["stake"]>
  readonly delegation: ReturnType<Reads["delegation"]>
  readonly past: Past
}

const ownsNothing = ({ balance, stake, delegation }: AccountRecord.AccountRecord): boolean =>
  balance === 0 && stake === null && delegation === null

const LOOKS = {
  "never seen": ({ record, past }) => AccountRecord.isEmpty(record) && !past.held,
  /** Its row stays, its record is gone. */
  "without a record any more": ({ record, past }) => AccountRecord.isEmpty(record) && past.held,
  emptied: ({ record }) => ownsNothing(record) && record.nonce > 0,
  "emptied and used again": ({ record, past }) => past.emptied && !ownsNothing(record),
  "with little": ({ record: { balance } }) => balance > 0 && balance < 10_000,
  "with most of the supply": ({ record: { balance } }) => balance > Sats.MAX_SUPPLY / 2,
  "with everything an account can have": ({ record: { stake, delegation, policy, name } }) =>
    (stake ?? delegation) !== null && policy !== null && name !== null,
  "with a policy of one key": ({ record: { policy } }) => policy?.keys.length === 1,
  "with a policy of some keys of several": ({ record: { policy } }) =>
    policy !== null && policy.threshold < policy.keys.length,
  "with a policy of all keys of several": ({ record: { policy } }) =>
    policy !== null && policy.threshold > 1 && policy.threshold === policy.keys.length,
  "of the council": ({ record }) => record.isCouncilMember,
  "in the committee": ({ stake }) => stake.isInCommittee,
  "staking outside the committee": ({ stake }) => stake.isActiveValidator && !stake.isInCommittee,
  "of a leaving staker": ({ stake }) => stake.leaving !== null,
  /** Its stake is neither active nor leaving. */
  "of a slashed staker": ({ stake }) => stake.stakedAmount > 0 && stake.leaving === null && !stake.isActiveValidator,
  delegating: ({ delegation }) => delegation?.leaving === null,
  "of a leaving delegator": ({ delegation }) => delegation !== undefined && delegation.leaving !== null,
  /** The record refers to a pool that a slash has emptied. */
  "delegating to nothing": ({ record, delegation }) => record.delegation !== null && delegation === undefined,
} as const satisfies { readonly [kind: string]: (look: Look) => boolean }

export type Kind = keyof typeof LOOKS

export const KINDS = Object.keys(LOOKS) as ReadonlyArray<Kind>

/** People, and the kinds of each one's account, which can be several. */
export class Accounts<P extends Holder> {
  readonly people: ReadonlyArray<P>
  readonly #read: () => Reads
  readonly #past = new Map<Address, Past>()
  #kinds = new Map<Address, ReadonlyArray<Kind>>()
  /** People by kind, for kinds that occur. */
  #groups: ReadonlyArray<ReadonlyArray<P>> = []
  #lookedAt = -1

  constructor(people: ReadonlyArray<P>, read: () => Reads) {
    this.people = people
    this.#read = read
  }

  get read(): Reads {
    return this.#read()
  }

  /** Call this after every commit, to notice every state of an account. */
  look(): void {
    const { read } = this
    if (this.#lookedAt === read.head.index) return
    this.#lookedAt = read.head.index
    this.#kinds = new Map(this.people.map(({ address }) => [address, this.#look(read, address)]))
    const groups = KINDS.map((kind) => this.people.filter(({ address }) => this.#kinds.get(address)?.includes(kind)))
    this.#groups = groups.filter((people) => people.length > 0)
  }

  #look(read: Reads, address: Address): ReadonlyArray<Kind> {
    const record = read.account(address)
    const before = this.#past.get(address)
    const past = {
      held: before?.held === true || !AccountRecord.isEmpty(record),
      emptied: before?.emptied === true || (before?.held === true && ownsNothing(record)),
    }
    this.#past.set(address, past)
    const look = { record, past, stake: read.stake(address), delegation: read.delegation(address) }
    return KINDS.filter((kind) => LOOKS[kind](look))
  }

  kindsOf(address: Address): ReadonlyArray<Kind> {
    this.look()
    return this.#kinds.get(address) ?? []
  }

  /** Every kind that currently occurs is equally likely. */
  any(draws: Draws): P {
    this.look()
    return draws.pick(this.#groups.length > 0 ? draws.pick(this.#groups) : this.people)
  }
}
