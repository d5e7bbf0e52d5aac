/**
 * The tables of the ledger, the running totals, and the indexes that follow from them. The rules are functions over this
 * class in the files beside it; every movement of money goes through its few verbs, so no rule can move one side of the
 * supply and forget the other.
 */
import { Either } from "effect"
import { toHex } from "#crypto"
import { MalformedBytes } from "../../protocol/encoding/Binary.js"
import { memberOf } from "../../protocol/epoch/EpochRecord.js"
import type { Protocol } from "../../protocol/epoch/Protocol.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Parameters } from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"
import type { Change } from "../trie/Trie.js"
import type { Row } from "./AccountRows.js"
import { Accounts } from "./Accounts.js"
import { Agenda } from "./Agenda.js"
import { Delegators } from "./Delegators.js"
import * as Effects from "./Effects.js"
import { Frozen } from "./Frozen.js"
import type * as HalfSipHash from "./HalfSipHash.js"
import { LeavingPools } from "./LeavingPools.js"
import { NameIndex } from "./NameIndex.js"
import { PackedRows } from "./PackedRows.js"
import * as Pool from "./Pool.js"
import * as Records from "./Records.js"
import { Recount } from "./Recount.js"
import { Supply, type SupplyInvariantViolated } from "./Supply.js"
import { Table } from "./Table.js"
import { UnlockQueue } from "./UnlockQueue.js"
import { Voters } from "./Voters.js"

/** The key of a kind that has one record. */
export const SINGLE_KEY = ""

/** Where the ballot of a voter stands. */
export const ballotKey = (id: Natural.ProposalId, voter: Address): string => `${StateKey.counter(id)}${voter}`

const proposalOfBallot = (key: string): Natural.ProposalId => Natural.proposalId(Number.parseInt(key.slice(0, 16), 16))

const voterOfBallot = (key: string): Address => key.slice(16) as Address

/** Steps of 256 bytes, of which 31 hold any proposal: its texts may be 4.7 KB long. */
const PROPOSAL_STEP_BITS = 8
/** A ballot with its key is 37 bytes. */
const BALLOT_STEP_BITS = 5

/** What all tables do alike. */
type AnyTable = Pick<Table<never>, "kind" | "size" | "collect" | "records" | "freeze" | "restore">

/** A staker with everything that ranks it. */
export interface Staker {
  readonly address: Address
  readonly row: Row
  readonly stake: AccountRecord.Stake
  readonly validator: Records.Validator
  /** Own stake and working pool. */
  readonly effective: Sats.Sats
  /** Own stake ≥ MIN_STAKE_SATS, not leaving, not barred. */
  readonly isActive: boolean
}

/** Most effective stake first; ties: lower address. */
export const bySize = (a: Staker, b: Staker): number =>
  b.effective - a.effective || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)

/** A record that every ledger has. */
const required = <A>(value: A | undefined, what: string): A => {
  if (value === undefined) throw new Error(`the ledger has no ${what} record`)
  return value
}

const malformed = (reason: string): Either.Either<never, MalformedBytes> =>
  Either.left(new MalformedBytes({ what: "state", offset: 0, reason }))

export class State {
  readonly protocol: Protocol
  readonly accounts: Accounts
  readonly validators = new Table(Records.validator)
  readonly proposals: Table<Records.Proposal>
  readonly ballots: Table<Records.Ballot>
  readonly epochs = new Table(Records.epoch)
  readonly presence = new Table(Records.presence)
  readonly minted = new Table(Records.minted)
  readonly recentCommits = new Table(Records.recentCommit)
  readonly slashed = new Table(Records.slashed)
  readonly leavingPools = new LeavingPools()
  readonly #parameters = new Table(Records.parameters)
  readonly #totals = new Table(Records.totals)
  readonly #head = new Table(Records.head)
  /** In the order of their kind bytes. */
  readonly #tables: ReadonlyArray<AnyTable>

  supply = new Supply()

  readonly names: NameIndex
  readonly council = new Set<Address>()
  readonly stakers = new Set<Address>()
  readonly delegators = new Delegators()
  readonly unlocking: UnlockQueue
  readonly voters = new Voters()
  readonly agenda = new Agenda()

  /** "Now": the leader round of the commit being executed, between commits that of the last one. */
  round: Natural.Round = Natural.round(0)
  #epoch: Records.Epoch | undefined
  #positions: ReadonlyMap<Address, number> = new Map()

  /** The key decides where in memory things lie, and nothing else. */
  constructor(protocol: Protocol, tableKey: HalfSipHash.Key) {
    this.protocol = protocol
    const accounts = new Accounts(tableKey)
    this.accounts = accounts
    this.proposals = new Table(Records.proposal, new PackedRows(Records.proposal, tableKey, PROPOSAL_STEP_BITS))
    this.ballots = new Table(Records.ballot, new PackedRows(Records.ballot, tableKey, BALLOT_STEP_BITS))
    this.#tables = [
      this.validators,
      this.proposals,
      this.ballots,
      this.#parameters,
      this.#totals,
      this.#head,
      this.epochs,
      this.presence,
      this.minted,
      this.recentCommits,
      this.slashed,
      this.leavingPools.table,
    ]
    this.names = new NameIndex(tableKey, (row) => accounts.extras(row).name)
    this.unlocking = new UnlockQueue((a, b) => accounts.compare(a, b))
  }

  get head(): Records.Head {
    return required(this.#head.get(SINGLE_KEY), "head")
  }

  set head(head: Records.Head) {
    this.#head.set(SINGLE_KEY, head)
  }

  get parameters(): Parameters {
    return required(this.#parameters.get(SINGLE_KEY), "parameters")
  }

  set parameters(parameters: Parameters) {
    this.#parameters.set(SINGLE_KEY, parameters)
  }

  /** The running epoch. */
  get epoch(): Records.Epoch {
    return required(this.#epoch, "epoch")
  }

  epochOf(epoch: Natural.Epoch): Records.Epoch | undefined {
    return this.epochs.get(StateKey.counter(epoch))
  }

  /** Makes this the running epoch, or the running epoch this. */
  set epoch(epoch: Records.Epoch) {
    this.epochs.set(StateKey.counter(epoch.record.epoch), epoch)
    this.#run(epoch)
  }

  #run(epoch: Records.Epoch): void {
    this.#epoch = epoch
    this.#positions = new Map(epoch.record.members.map(({ address }, position) => [address, position]))
  }

  /** The position in the running committee; none outside it. */
  memberPosition(address: Address): number | undefined {
    return this.#positions.get(address)
  }

  /** Whether it sits in the running committee or sat in the one before: evidence against it can still come. */
  isAnswerable(address: Address): boolean {
    const previous = this.epochOf(Natural.epoch(Math.max(0, this.epoch.record.epoch - 1)))
    return this.isMember(address) || (previous !== undefined && memberOf(previous.record, address) !== undefined)
  }

  /**
   * Whether what left this validator in that epoch still counts in a weight for which evidence can come. In an ordinary
   * epoch weights are measured behind all that has left, so this is about members that were kept on.
   */
  isWeightOf(validator: Address, leftIn: Natural.Epoch): boolean {
    const previous = this.epochOf(Natural.epoch(Math.max(0, this.epoch.record.epoch - 1)))
    return [this.epoch, previous].some(
      (held) => held !== undefined && held.weighedIn <= leftIn && memberOf(held.record, validator) !== undefined,
    )
  }

  isMember(address: Address): boolean {
    return this.#positions.has(address)
  }

  credit(row: Row, amount: Sats.Sats): void {
    if (amount === 0) return
    this.accounts.setBalance(row, Sats.addBounded(this.accounts.balance(row), amount))
    this.supply.increase("liquid", amount)
  }

  /** An account never seen gets its row with its first sat. */
  creditAddress(address: Address, amount: Sats.Sats): void {
    if (amount > 0) this.credit(this.accounts.findOrAdd(address), amount)
  }

  /** From one balance to another: the supply does not move. */
  pay(from: Row, to: Row, amount: Sats.Sats): void {
    if (amount === 0) return
    this.accounts.setBalance(from, Sats.subtractBounded(this.accounts.balance(from), amount))
    this.accounts.setBalance(to, Sats.addBounded(this.accounts.balance(to), amount))
  }

  /** Sets a part of a balance aside. It still counts as liquid, and is returned or forfeited later. */
  hold(row: Row, amount: Sats.Sats): void {
    this.accounts.setBalance(row, Sats.subtractBounded(this.accounts.balance(row), amount))
  }

  /** Returns what was set aside to the account it came from. */
  giveBack(address: Address, amount: Sats.Sats): void {
    const row = this.accounts.findOrAdd(address)
    this.accounts.setBalance(row, Sats.addBounded(this.accounts.balance(row), amount))
  }

  /** Moves what was set aside to the treasury. */
  forfeit(amount: Sats.Sats): void {
    this.supply.decrease("liquid", amount)
    this.supply.increase("treasury", amount)
  }

  debit(row: Row, amount: Sats.Sats): void {
    if (amount === 0) return
    this.accounts.setBalance(row, Sats.subtractBounded(this.accounts.balance(row), amount))
    this.supply.decrease("liquid", amount)
  }

  extrasOf(address: Address): AccountRecord.Extras {
    return this.accounts.extras(this.accounts.find(address))
  }

  /** Changes what few accounts have, and every index that follows from it. */
  update(row: Row, patch: Partial<AccountRecord.Extras>): void {
    const before = this.accounts.extras(row)
    const after = { ...before, ...patch }
    this.accounts.setExtras(row, after)
    this.#index(row, before, after)
  }

  /** Brings the indexes from what an account had to what it has; what stayed the same costs nothing. */
  #index(row: Row, before: AccountRecord.Extras, after: AccountRecord.Extras): void {
    const address = this.accounts.addressOf(row)
    if (before.name === null && after.name !== null) this.names.add(after.name, row)
    if (after.isCouncilMember) this.council.add(address)
    else if (before.isCouncilMember) this.council.delete(address)
    if (after.stake !== null) this.stakers.add(address)
    else if (before.stake !== null) this.stakers.delete(address)
    if (before.delegation !== after.delegation) {
      const living = after.delegation !== null && this.#isAlive(after.delegation) ? after.delegation : null
      this.delegators.change(row, before.delegation, living)
    }
    this.#awaitRelease(row, null, before.stake?.leaving, after.stake?.leaving)
    this.#awaitRelease(row, after.delegation?.validator ?? null, before.delegation?.leaving, after.delegation?.leaving)
  }

  #awaitRelease(
    row: Row,
    validator: Address | null,
    before: AccountRecord.Leaving | null = null,
    after: AccountRecord.Leaving | null = null,
  ): void {
    const isTheSame = before?.epoch === after?.epoch && before?.unlockAtRound === after?.unlockAtRound
    if (after !== null && !isTheSame) this.unlocking.add({ row, validator, leaving: after })
  }

  /** The pool whose shares a delegation holds, if it is there. */
  poolOf({ validator, leaving }: AccountRecord.Delegation): Pool.Pool | undefined {
    return leaving === null || leaving.epoch === this.epoch.record.epoch
      ? this.validators.get(validator)?.working
      : this.leavingPools.get(validator, leaving.epoch)
  }

  #isAlive(delegation: AccountRecord.Delegation): boolean {
    return this.poolOf(delegation)?.generation === delegation.generation
  }

  /** The delegation of an account; none once its pool lost everything. */
  livingDelegation(row: Row | undefined): AccountRecord.Delegation | null {
    const { delegation } = this.accounts.extras(row)
    return delegation !== null && this.#isAlive(delegation) ? delegation : null
  }

  /** Keeps what stands behind an address as validator, and forgets it when nothing does. */
  setValidator(address: Address, validator: Records.Validator): void {
    const isNeeded = this.stakers.has(address) || validator.isBarred || !Pool.isPristine(validator.working)
    if (isNeeded) this.validators.set(address, validator)
    else this.validators.delete(address)
  }

  newValidator(): Records.Validator {
    return {
      commissionPercent: this.protocol.defaultCommissionPercent,
      commissionEpoch: Natural.epoch(0),
      isBarred: false,
      working: Pool.empty,
      departing: 0n,
    }
  }

  staker(address: Address): Staker | undefined {
    const row = this.accounts.find(address)
    const { stake } = this.accounts.extras(row)
    const validator = this.validators.get(address)
    if (row === undefined || stake === null || validator === undefined) return undefined
    return {
      address,
      row,
      stake,
      validator,
      effective: Sats.addBounded(stake.amount, validator.working.amount),
      isActive: stake.amount >= Sats.MIN_STAKE_SATS && stake.leaving === null && !validator.isBarred,
    }
  }

  /** All stakers, largest effective stake first. At most some ten thousand can afford to be one. */
  stakersBySize(): ReadonlyArray<Staker> {
    const stakers: Array<Staker> = []
    for (const address of this.stakers) {
      const staker = this.staker(address)
      if (staker !== undefined) stakers.push(staker)
    }
    return stakers.sort(bySize)
  }

  /** The active validators: the 100 largest active stakes. */
  activeValidators(): ReadonlyArray<Staker> {
    return this.stakersBySize()
      .filter(({ isActive }) => isActive)
      .slice(0, Limits.COMMITTEE_MEMBERS)
  }

  hasActiveValidator(): boolean {
    for (const address of this.stakers) if (this.staker(address)?.isActive) return true
    return false
  }

  /** Ends a commit: what it changed, in the order of kind bytes and keys. */
  collect(): Effects.Changes {
    this.#totals.set(SINGLE_KEY, this.supply.totals)
    const collector = new Effects.Collector(this.accounts.touched)
    this.accounts.collect(collector)
    for (const table of this.#tables) table.collect(collector)
    return collector.finish()
  }

  /** Every record, read as it is taken: between commits, or whole. */
  *records(): Generator<StateRecord.StateRecord> {
    yield* this.accounts.records()
    for (const table of this.#tables) yield* table.records()
  }

  /** The same as they stand in the state trie; a value is lent until the next one is asked for. */
  *entries(): Generator<Change> {
    yield* this.accounts.entries()
    for (const table of this.#tables) {
      for (const record of table.records())
        yield { key: StateRecord.placeOf(record), value: StateRecord.encode(record) }
    }
  }

  /** What changed since the last time, to become a batch of the state trie. */
  freeze(): Frozen {
    return new Frozen(
      this.accounts.freeze(),
      this.#tables.flatMap((table) => table.freeze()),
    )
  }

  /** Puts back one record of another ledger. Once all are back, `rebuild` makes the indexes. */
  restore({ kind, key, value }: StateRecord.StateRecord): Either.Either<void, MalformedBytes> {
    if (kind === "Account") {
      return Either.map(AccountRecord.decode(value), (record) => {
        this.accounts.restore(toHex(key) as Address, record)
      })
    }
    const table = this.#tables.find((table) => table.kind === kind)
    return required(table, kind).restore(toHex(key), value)
  }

  /** The indexes, the running epoch and the totals, from nothing but the records. */
  rebuild(): Either.Either<void, MalformedBytes> {
    const missing = [this.#parameters, this.#totals, this.#head, this.epochs].find((table) => table.size === 0)
    if (missing !== undefined) return malformed(`there is no ${missing.kind} record`)
    // Every proposal ever made is kept, and the indexes below go by their numbers.
    const { nextProposalId } = required(this.#head.get(SINGLE_KEY), "head")
    const isDense = [...this.proposals.keys()].sort().every((key, i) => key === StateKey.counter(i + 1))
    if (!isDense || this.proposals.size !== nextProposalId - 1) {
      return malformed(`the proposals are not those numbered from 1 to ${nextProposalId - 1}`)
    }
    const latest = [...this.epochs.keys()].sort().at(-1)
    this.#run(required(this.epochs.get(latest ?? ""), "epoch"))
    this.leavingPools.rebuild()
    for (const row of this.accounts.withExtras()) {
      const extras = this.accounts.extras(row)
      const { delegation } = extras
      const pool = delegation === null ? undefined : this.poolOf(delegation)
      // What shares are worth is their part of the pool's: no part is more than the whole.
      if (pool !== undefined && delegation?.generation === pool.generation && delegation.shares > pool.shares) {
        return malformed(`${this.accounts.addressOf(row)} holds more shares of a pool than there are`)
      }
      this.#index(row, AccountRecord.noExtras, extras)
    }
    for (const key of this.ballots.keys()) {
      const id = proposalOfBallot(key)
      if (id < 1 || id >= nextProposalId) return malformed(`there is a ballot on proposal ${id}, which was never made`)
      this.voters.add(id, this.accounts.findOrAdd(voterOfBallot(key)))
    }
    for (const [key, proposal] of this.proposals.entries()) {
      this.agenda.add(Natural.proposalId(Number.parseInt(key, 16)), proposal)
    }
    this.supply = new Supply(required(this.#totals.get(SINGLE_KEY), "totals"))
    this.round = this.head.leaderRound
    return Either.void
  }

  /** Counts the whole supply again, without taking the records apart. */
  recount(): Either.Either<Records.Totals, SupplyInvariantViolated> {
    const recount = new Recount()
    recount.epoch(this.epoch.record.epoch)
    for (let row = 0; row < this.accounts.size; row++) {
      recount.account(this.accounts.balance(row), this.accounts.extras(row))
    }
    for (const [, proposal] of this.proposals.entries()) recount.proposal(proposal)
    for (const [address, validator] of this.validators.entries()) recount.validator(address as Address, validator)
    for (const [address, epoch, pool] of this.leavingPools.entries()) recount.leavingPool(address, epoch, pool)
    recount.totals(this.supply.totals)
    return recount.finish()
  }
}
