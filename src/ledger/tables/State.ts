/**
 * The tables of the ledger, the running totals, and the indexes derived from them. The rules are functions over this
 * class. All money moves through a few of its methods, so no rule can change one side of the supply and forget the
 * other.
 */
import { Either } from "effect"
import { toHex } from "#crypto"
import { MalformedBytes } from "../../protocol/encoding/Binary.js"
import type { EpochRecord, Member } from "../../protocol/epoch/EpochRecord.js"
import type { Protocol } from "../../protocol/epoch/Protocol.js"
import type { ProtocolVersion } from "../../protocol/epoch/ProtocolVersion.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"
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
import { type Frozen, frozen } from "./Frozen.js"
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

/** The key of a kind with a single record. */
const SINGLE_KEY = ""

/** Cells of up to 31 steps of 256 bytes hold any proposal: its texts can be 4.7 KB long. */
const PROPOSAL_STEP_BITS = 8
/** A ballot with its key takes 37 bytes. */
const BALLOT_STEP_BITS = 5

type AnyTable = Pick<Table<never>, "kind" | "size" | "collect" | "records" | "freeze" | "restore" | "drop">

/** A staker with everything that determines its rank. */
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
const bySize = (a: Staker, b: Staker): number => b.effective - a.effective || (a.address < b.address ? -1 : 1)

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
  readonly #upgrade = new Table(Records.upgrade)
  readonly signingKeys = new Table(Records.signingKey)
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

  /** "Now": the leader round of the current commit or, between commits, of the last one. */
  round: Natural.Round = Natural.round(0)
  /** Not part of the state: a key that this machine accepts for every account. See `Ledger.letSignForAll`. */
  standIn: PublicKey | null = null
  #epoch: Records.Epoch | undefined
  #positions: ReadonlyMap<Address, number> = new Map()
  /** The accounts of the running committee. Its keys cannot pass to other accounts. */
  #members: ReadonlySet<Address> = new Set()

  /** The key affects only where in memory records lie. */
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
      this.#upgrade,
      this.signingKeys,
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

  /** The protocol version of the next epoch if a vote changed it; otherwise null. */
  get upgrade(): ProtocolVersion | null {
    return this.#upgrade.get(SINGLE_KEY) ?? null
  }

  set upgrade(version: ProtocolVersion | null) {
    if (version === null) this.#upgrade.delete(SINGLE_KEY)
    else this.#upgrade.set(SINGLE_KEY, version)
  }

  get epoch(): Records.Epoch {
    return required(this.#epoch, "epoch")
  }

  epochOf(epoch: Natural.Epoch): Records.Epoch | undefined {
    return this.epochs.get(StateKey.counter(epoch))
  }

  /** Makes this the running epoch, or updates it. */
  set epoch(epoch: Records.Epoch) {
    this.epochs.set(StateKey.counter(epoch.record.epoch), epoch)
    this.#run(epoch)
  }

  #run(epoch: Records.Epoch): void {
    this.#epoch = epoch
    this.#positions = new Map(epoch.record.members.map(({ address }, position) => [address, position]))
    this.#members = new Set(epoch.record.members.map(({ address }) => this.accountOf(address)))
  }

  /** The account of the validator that signs, or has signed, with the key of this address. */
  accountOf(address: Address): Address {
    return this.signingKeys.get(address)?.account ?? address
  }

  /** The seat of an account, whichever key it signs with in that epoch. */
  seatOf({ members }: EpochRecord, account: Address): Member | undefined {
    return members.find(({ address }) => this.accountOf(address) === account)
  }

  /** The position in the running committee of the key of this address; undefined outside it. */
  memberPosition(address: Address): number | undefined {
    return this.#positions.get(address)
  }

  /**
   * Whether it is in the running committee or was in the previous one, so that evidence against it is still possible.
   */
  isAnswerable(account: Address): boolean {
    const previous = this.epochOf(Natural.epoch(Math.max(0, this.epoch.record.epoch - 1)))
    return this.isMember(account) || (previous !== undefined && this.seatOf(previous.record, account) !== undefined)
  }

  /**
   * Whether a delegation that left this validator in that epoch still counts in a weight for which evidence is
   * possible. Ordinarily weights are measured after all departures, so this concerns only members that were kept on.
   */
  isWeightOf(validator: Address, leftIn: Natural.Epoch): boolean {
    const previous = this.epochOf(Natural.epoch(Math.max(0, this.epoch.record.epoch - 1)))
    return [this.epoch, previous].some(
      (held) => held !== undefined && held.weighedIn <= leftIn && this.seatOf(held.record, validator) !== undefined,
    )
  }

  isMember(account: Address): boolean {
    return this.#members.has(account)
  }

  credit(row: Row, amount: Sats.Sats): void {
    if (amount === 0) return
    this.accounts.setBalance(row, Sats.addBounded(this.accounts.balance(row), amount))
    this.supply.increase("liquid", amount)
  }

  /** An unknown account gets its row with its first sat. */
  creditAddress(address: Address, amount: Sats.Sats): void {
    if (amount > 0) this.credit(this.accounts.findOrAdd(address), amount)
  }

  /** Moves an amount between balances; the supply stays the same. */
  pay(from: Row, to: Row, amount: Sats.Sats): void {
    if (amount === 0) return
    this.accounts.setBalance(from, Sats.subtractBounded(this.accounts.balance(from), amount))
    this.accounts.setBalance(to, Sats.addBounded(this.accounts.balance(to), amount))
  }

  /** Sets part of a balance aside. It still counts as liquid until it is returned or forfeited. */
  hold(row: Row, amount: Sats.Sats): void {
    this.accounts.setBalance(row, Sats.subtractBounded(this.accounts.balance(row), amount))
  }

  /** Returns an amount set aside to its account. */
  giveBack(address: Address, amount: Sats.Sats): void {
    const row = this.accounts.findOrAdd(address)
    this.accounts.setBalance(row, Sats.addBounded(this.accounts.balance(row), amount))
  }

  /** Moves an amount set aside to the treasury. */
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

  /** Changes an account's extras and every index derived from them. */
  update(row: Row, patch: Partial<AccountRecord.Extras>): void {
    const before = this.accounts.extras(row)
    const after = { ...before, ...patch }
    this.accounts.setExtras(row, after)
    this.#index(row, before, after)
  }

  /** Updates the indexes after a change of an account's extras; unchanged parts cost nothing. */
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
    // Stakes and delegations that are leaving cannot leave again.
    if (before === null && after !== null) this.unlocking.add({ row, validator, leaving: after })
  }

  /** The pool in which a delegation holds shares, if it exists. */
  poolOf({ validator, leaving }: AccountRecord.Delegation): Pool.Pool | undefined {
    return leaving === null || leaving.epoch === this.epoch.record.epoch
      ? this.validators.get(validator)?.working
      : this.leavingPools.get(validator, leaving.epoch)
  }

  #isAlive(delegation: AccountRecord.Delegation): boolean {
    return this.poolOf(delegation)?.generation === delegation.generation
  }

  /** The account's delegation; null if its pool has lost everything. */
  livingDelegation(row: Row | undefined): AccountRecord.Delegation | null {
    const { delegation } = this.accounts.extras(row)
    return delegation !== null && this.#isAlive(delegation) ? delegation : null
  }

  /** Stores a validator record, or deletes it once nothing needs it. */
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

  /** All stakers, largest effective stake first. The supply bounds them to some ten thousand. */
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

  /** Ends a commit: returns its changes in the order of kind bytes and keys. */
  collect(): Effects.Changes {
    this.#totals.set(SINGLE_KEY, this.supply.totals)
    const collector = new Effects.Collector(this.accounts.touched)
    this.accounts.collect(collector)
    for (const table of this.#tables) table.collect(collector)
    return collector.finish()
  }

  /** Every record, lazily. Read them all between commits. */
  *records(): Generator<StateRecord.StateRecord> {
    yield* this.accounts.records()
    for (const table of this.#tables) yield* table.records()
  }

  /** The same as the state trie holds them; each value is valid until the next one is requested. */
  *entries(): Generator<Change> {
    yield* this.accounts.entries()
    for (const table of this.#tables) {
      for (const record of table.records())
        yield { key: StateRecord.placeOf(record), value: StateRecord.encode(record) }
    }
  }

  /** The changes since the last freeze, as a batch for the state trie. */
  freeze(): Frozen {
    const rows = this.#tables.flatMap((table) => table.freeze())
    return frozen(this.accounts.freeze(), rows)
  }

  /** Restores one record of another ledger. Call `rebuild` once all are restored. */
  restore({ kind, key, value }: StateRecord.StateRecord): Either.Either<void, MalformedBytes> {
    if (kind === "Account") {
      return Either.map(AccountRecord.decode(value), (record) => {
        this.accounts.restore(toHex(key) as Address, record)
      })
    }
    return this.#table(kind).restore(toHex(key), value)
  }

  /** Rebuilds the indexes, the running epoch and the totals from the records. */
  rebuild(): Either.Either<void, MalformedBytes> {
    const missing = [this.#parameters, this.#totals, this.#head, this.epochs].find((table) => table.size === 0)
    if (missing !== undefined) return malformed(`the state has no ${missing.kind} record`)
    // Proposals are kept forever, and the indexes below rely on consecutive ids.
    const { nextProposalId } = required(this.#head.get(SINGLE_KEY), "head")
    const isDense = [...this.proposals.keys()].sort().every((key, i) => key === StateKey.counter(i + 1))
    if (!isDense || this.proposals.size !== nextProposalId - 1) {
      return malformed(`the proposals are not numbered from 1 to ${nextProposalId - 1} without gaps`)
    }
    const latest = [...this.epochs.keys()].sort().at(-1)
    this.#run(required(this.epochs.get(latest ?? ""), "epoch"))
    this.leavingPools.rebuild()
    for (const row of this.accounts.withExtras()) {
      const extras = this.accounts.extras(row)
      const { delegation } = extras
      const pool = delegation === null ? undefined : this.poolOf(delegation)
      // A part of a pool cannot exceed the whole.
      if (pool !== undefined && delegation?.generation === pool.generation && delegation.shares > pool.shares) {
        return malformed(`${this.accounts.addressOf(row)} holds more shares of a pool than exist`)
      }
      if (extras.name !== null && this.names.find(extras.name) !== undefined) {
        return malformed(`two accounts have the name @${extras.name}`)
      }
      this.#index(row, AccountRecord.noExtras, extras)
    }
    for (const key of this.ballots.keys()) {
      const [id, voter] = StateKey.partsOfBallot(key)
      if (id < 1 || id >= nextProposalId) return malformed(`ballot on proposal ${id}, which does not exist`)
      this.voters.add(id, this.accounts.findOrAdd(voter))
    }
    for (const [key, proposal] of this.proposals.entries()) {
      this.agenda.add(Natural.proposalId(Number.parseInt(key, 16)), proposal)
    }
    this.resume()
    return Either.void
  }

  /** Replaces an account by that of another ledger. */
  replaceAccount(address: Address, record: AccountRecord.AccountRecord): void {
    const before = this.extrasOf(address)
    const row = this.accounts.restore(address, record)
    this.#index(row, before, this.accounts.extras(row))
  }

  /** Drops a record that another ledger deleted. */
  drop(kind: StateKey.Kind, key: string): void {
    if (kind === "LeavingPool") this.leavingPools.drop(key)
    else this.#table(kind).drop(key)
  }

  #table(kind: StateKey.Kind): AnyTable {
    const found = this.#tables.find((table) => table.kind === kind)
    return required(found, kind)
  }

  /** Takes the running totals and the round from the records. */
  resume(): void {
    this.supply = new Supply(required(this.#totals.get(SINGLE_KEY), "totals"))
    this.round = this.head.leaderRound
  }

  /** Recounts the whole supply without decoding records. */
  recount(): Either.Either<Records.Totals, SupplyInvariantViolated> {
    const recount = new Recount()
    for (let row = 0; row < this.accounts.size; row++) {
      recount.account(this.accounts.balance(row), this.accounts.extras(row))
    }
    for (const [, proposal] of this.proposals.entries()) recount.proposal(proposal)
    this.#countPools(recount)
    return recount.finish()
  }

  /** All records except accounts. Only proposals open for voting hold a bond. */
  countRest(recount: Recount): void {
    for (const id of this.agenda.activeIds) {
      const proposal = this.proposals.get(StateKey.counter(id))
      if (proposal !== undefined) recount.proposal(proposal)
    }
    this.#countPools(recount)
  }

  #countPools(recount: Recount): void {
    recount.epoch(this.epoch.record.epoch)
    for (const [address, validator] of this.validators.entries()) recount.validator(address as Address, validator)
    for (const [address, epoch, pool] of this.leavingPools.entries()) recount.leavingPool(address, epoch, pool)
    recount.totals(this.supply.totals)
  }
}
