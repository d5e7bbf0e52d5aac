/** Reads of the ledger between commits, answered from the tables without copying them. */

import type { EpochRecord } from "../protocol/epoch/EpochRecord.js"
import type { ProtocolVersion } from "../protocol/epoch/ProtocolVersion.js"
import { type Address, fromPublicKey as addressOf } from "../protocol/identity/Address.js"
import type { Name } from "../protocol/identity/Name.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Parameters } from "../protocol/numbers/Parameters.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as AccountRecord from "../protocol/state/AccountRecord.js"
import * as StateKey from "../protocol/state/StateKey.js"
import type { Evidence } from "../protocol/vertex/Evidence.js"
import * as Delegation from "./rules/Delegation.js"
import { type Delegator, DelegatorSearch } from "./rules/DelegatorSearch.js"
import * as Governance from "./rules/Governance.js"
import * as Slashing from "./rules/Slashing.js"
import type { Ballot, Head, Proposal, RecentCommit, Totals } from "./tables/Records.js"
import type { Staker, State } from "./tables/State.js"

export interface StakeDetails {
  readonly address: Address
  readonly stakedAmount: Sats.Sats
  readonly commissionPercent: number
  readonly effectiveStake: Sats.Sats
  readonly delegatorCount: number
  readonly isActiveValidator: boolean
  readonly isInCommittee: boolean
  readonly leaving: AccountRecord.Leaving | null
}

export interface DelegationDetails {
  readonly validator: Address
  readonly amount: Sats.Sats
  readonly leaving: AccountRecord.Leaving | null
}

/** The number and total of a validator's delegations, including leaving ones. */
export interface Backing {
  readonly count: number
  readonly total: Sats.Sats
}

export interface DelegatorList extends Backing {
  /** Largest first. */
  readonly delegators: ReadonlyArray<Delegator>
}

export interface NumberedProposal extends Proposal {
  readonly id: Natural.ProposalId
}

export interface Voter extends Ballot {
  readonly address: Address
}

/** A list of delegators that took a full search, and the commit at which the search began. */
interface Ranked {
  readonly limit: number
  readonly madeAt: number
  readonly delegators: ReadonlyArray<Delegator>
}

/** Delegators examined per commit. The list of a validator with more delegators is some commits old. */
const EXAMINED_PER_COMMIT = 2_000
const KEPT_LISTS = 256

export class Reads {
  readonly #state: State
  /** All stakers by size and the addresses of the active ones, cached for one commit. */
  #ranking: { readonly index: number; readonly stakers: ReadonlyArray<Staker>; readonly active: Set<Address> } = {
    index: -1,
    stakers: [],
    active: new Set(),
  }
  /**
   * Oldest first. Cached because anyone can query at any rate, and examining one delegator takes about ten
   * microseconds.
   */
  readonly #lists = new Map<Address, Ranked>()

  constructor(state: State) {
    this.#state = state
  }

  #ranked() {
    const { index } = this.#state.head
    if (this.#ranking.index !== index) {
      const stakers = this.#state.stakersBySize()
      this.#ranking = { index, stakers, active: new Set(this.#state.activeValidators().map(({ address }) => address)) }
    }
    return this.#ranking
  }

  get head(): Head {
    return this.#state.head
  }

  get totals(): Totals {
    return this.#state.supply.totals
  }

  /** Includes accounts that are empty by now. */
  get accountCount(): number {
    return this.#state.accounts.size
  }

  get parameters(): Parameters {
    return this.#state.parameters
  }

  get epoch(): EpochRecord {
    return this.#state.epoch.record
  }

  /** The protocol version once every passed proposal has taken effect. Unknown to a ledger that uses `follow`. */
  get decidedVersion(): ProtocolVersion {
    return Governance.decidedVersion(this.#state)
  }

  get previousEpoch(): EpochRecord | undefined {
    return this.#state.epochs.get(StateKey.counter(Math.max(0, this.epoch.epoch - 1)))?.record
  }

  /** Zeros for an unknown address. */
  account(address: Address): AccountRecord.AccountRecord {
    const { accounts } = this.#state
    const row = accounts.find(address)
    return row === undefined ? AccountRecord.empty : accounts.record(row)
  }

  addressOf(name: Name): Address | undefined {
    const row = this.#state.names.find(name)
    return row === undefined ? undefined : this.#state.accounts.addressOf(row)
  }

  /** The first matching names in alphabetical order, with their owners. */
  namesBeginningWith(text: string, most: number): ReadonlyArray<{ readonly name: Name; readonly address: Address }> {
    const { names, accounts } = this.#state
    return names.beginningWith(text, most).map(([name, row]) => ({ name, address: accounts.addressOf(row) }))
  }

  #details({ address, stake, validator, effective }: Staker): StakeDetails {
    return {
      address,
      stakedAmount: stake.amount,
      commissionPercent: validator.commissionPercent,
      effectiveStake: effective,
      delegatorCount: this.#state.delegators.countOf(address),
      isActiveValidator: this.#ranked().active.has(address),
      isInCommittee: this.#state.isMember(address),
      leaving: stake.leaving,
    }
  }

  /** Zeros for accounts that never staked, except for the amounts that their delegators still hold. */
  stake(address: Address): StakeDetails {
    const staker = this.#state.staker(address)
    if (staker !== undefined) return this.#details(staker)
    const validator = this.#state.validators.get(address)
    return {
      address,
      stakedAmount: Sats.ZERO,
      commissionPercent: validator?.commissionPercent ?? 0,
      effectiveStake: validator?.working.amount ?? Sats.ZERO,
      delegatorCount: this.#state.delegators.countOf(address),
      isActiveValidator: false,
      isInCommittee: this.#state.isMember(address),
      leaving: null,
    }
  }

  /** Every staker, largest effective stake first. */
  validators(limit: number): ReadonlyArray<StakeDetails> {
    return this.#ranked()
      .stakers.slice(0, limit)
      .map((staker) => this.#details(staker))
  }

  /** The account of the validator that signs, or has signed, with the key of this address. */
  accountOf(address: Address): Address {
    return this.#state.accountOf(address)
  }

  /** Whether this is the newest key of a stake that is large enough for a seat and stays. */
  mayBeat(address: Address): boolean {
    const account = this.accountOf(address)
    const { stakedAmount, leaving } = this.stake(account)
    const { publicKey } = this.account(account)
    const isNewest = publicKey === null || addressOf(publicKey) === address
    return stakedAmount >= Sats.MIN_STAKE_SATS && leaving === null && isNewest
  }

  get activeValidatorCount(): number {
    return this.#ranked().active.size
  }

  delegation(address: Address): DelegationDetails | undefined {
    const delegation = this.#state.livingDelegation(this.#state.accounts.find(address))
    if (delegation === null) return undefined
    const { validator, leaving } = delegation
    return { validator, amount: Delegation.worth(this.#state, delegation), leaving }
  }

  /** Count and total are current. The list is at most one commit old for each 2,000 delegators beyond the first. */
  delegators(validator: Address, limit: number): DelegatorList {
    const known = this.knownDelegators(validator, limit)
    if (known !== undefined) return known
    const search = this.searchDelegators(validator, limit)
    search.step(() => true)
    return this.listDelegators(search)
  }

  /** The same list, if it is known without a search. */
  knownDelegators(validator: Address, limit: number): DelegatorList | undefined {
    const list = this.#lists.get(validator)
    if (list === undefined || list.limit !== limit) return undefined
    const age = this.#state.head.index - list.madeAt
    return age * EXAMINED_PER_COMMIT < this.#state.delegators.countOf(validator) || age === 0
      ? this.#delegatorList(validator, list.delegators)
      : undefined
  }

  searchDelegators(validator: Address, limit: number): DelegatorSearch {
    return new DelegatorSearch(this.#state, validator, limit)
  }

  listDelegators(search: DelegatorSearch): DelegatorList {
    const { validator, limit, begunAt: madeAt, found: delegators } = search
    this.#lists.delete(validator)
    this.#lists.set(validator, { limit, madeAt, delegators })
    for (const oldest of this.#lists.keys()) if (this.#lists.size > KEPT_LISTS) this.#lists.delete(oldest)
    return this.#delegatorList(validator, delegators)
  }

  #delegatorList(validator: Address, delegators: ReadonlyArray<Delegator>): DelegatorList {
    return { ...this.backing(validator), delegators }
  }

  backing(validator: Address): Backing {
    const working = this.#state.validators.get(validator)?.working.amount ?? Sats.ZERO
    const leaving = this.#state.leavingPools.of(validator).map(([, { amount }]) => amount)
    return { count: this.#state.delegators.countOf(validator), total: Sats.sumBounded([working, ...leaving]) }
  }

  /** A commit that heartbeats can still name. */
  recentCommit(index: Natural.CommitIndex): RecentCommit | undefined {
    return this.#state.recentCommits.get(StateKey.counter(index))
  }

  /** Whether this evidence, executed in the next commit, would cost the accused anything. */
  isPunishable(evidence: Evidence): boolean {
    return Slashing.isPunishable(this.#state, evidence)
  }

  proposal(id: Natural.ProposalId): NumberedProposal | undefined {
    const proposal = this.#state.proposals.get(StateKey.counter(id))
    return proposal && { ...proposal, id }
  }

  /** Newest first. */
  proposals(limit: number): ReadonlyArray<NumberedProposal> {
    const newest: Array<NumberedProposal> = []
    for (let id = this.head.nextProposalId - 1; id > 0 && newest.length < limit; id--) {
      const proposal = this.proposal(Natural.proposalId(id))
      if (proposal !== undefined) newest.push(proposal)
    }
    return newest
  }

  /**
   * In the order of addresses. While a proposal is open for voting, its whole snapshot; afterwards only those who
   * voted.
   */
  voters(id: Natural.ProposalId): ReadonlyArray<Voter> {
    const { accounts, voters } = this.#state
    return [...voters.of(id)]
      .sort((a, b) => accounts.compare(a, b))
      .flatMap((row) => {
        const address = accounts.addressOf(row)
        const ballot = this.ballot(id, address)
        return ballot === undefined ? [] : [{ address, ...ballot }]
      })
  }

  /**
   * Undefined for addresses outside the snapshot and, once the proposal is decided, for validators that did not vote.
   */
  ballot(id: Natural.ProposalId, address: Address): Ballot | undefined {
    return this.#state.ballots.get(StateKey.ballot(id, address))
  }

  /** In the order of addresses. */
  council(): ReadonlyArray<Address> {
    return [...this.#state.council].sort()
  }
}
