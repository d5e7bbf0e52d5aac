/**
 * The money rules a second time, as plainly as possible: every amount a bigint, every pool a list of its holders, every
 * lookup a full search. It is slow and shares nothing with the ledger it checks. It takes everything that moves no
 * money (names, policies, votes, committees) as given.
 */

import type { Ledger } from "../../src/ledger/Ledger.js"
import type { Event, Outcome } from "../../src/ledger/rules/Execution.js"
import type { EpochRecord } from "../../src/protocol/epoch/EpochRecord.js"
import type { Genesis } from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Parameters } from "../../src/protocol/numbers/Parameters.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import type { Header } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"

const CAP = 2_100_000_000_000_000n
const MIN_STAKE = 200_000_000_000n

interface NaiveStake {
  amount: bigint
  leavingIn: number | null
  unlockAt: number
}

interface NaivePool {
  amount: bigint
  holders: Map<string, bigint>
}

interface NaiveValidator {
  commission: bigint
  commissionEpoch: number
  isBarred: boolean
  working: NaivePool
  /** By the epoch in which its holders left. */
  leaving: Map<number, NaivePool>
}

interface NaiveDelegation {
  validator: string
  pool: NaivePool
}

export const poolsOf = ({ working, leaving }: NaiveValidator): ReadonlyArray<NaivePool> => [
  working,
  ...leaving.values(),
]

const emptyPool = (): NaivePool => ({ amount: 0n, holders: new Map() })

const sharesOf = ({ holders }: NaivePool): bigint => [...holders.values()].reduce((a, b) => a + b, 0n)

/** How much was cast on each proposal, and could have been. */
export type Votes = ReadonlyMap<number, { readonly cast: bigint; readonly snapshot: bigint }>

/** Of the newest proposals of a ledger. */
export const votesIn = (ledger: Ledger): Votes =>
  new Map(
    ledger.read
      .proposals(200)
      .map(({ id, votesFor, votesAgainst, snapshotTotalStake }) => [
        id,
        { cast: BigInt(votesFor) + BigInt(votesAgainst), snapshot: BigInt(snapshotTotalStake) },
      ]),
  )

/** What is decided outside the money rules, for one commit. */
export interface Told {
  readonly epoch: EpochRecord
  readonly previousEpoch: EpochRecord | undefined
  readonly parameters: Parameters
  readonly outcomes: ReadonlyArray<ReadonlyArray<Outcome>>
  readonly events: ReadonlyArray<Event>
  readonly payloads: ReadonlyMap<number, ProposalPayload>
  readonly votes: Votes
  readonly closes: boolean
}

export class NaiveLedger {
  readonly balances = new Map<string, bigint>()
  readonly nonces = new Map<string, number>()
  readonly stakes = new Map<string, NaiveStake>()
  readonly validators = new Map<string, NaiveValidator>()
  /** Who left its validator, and until when it waits. */
  readonly departures = new Map<string, { leavingIn: number; unlockAt: number }>()
  readonly council = new Set<string>()
  /** Of undecided proposals. */
  readonly bonds = new Map<number, { proposer: string; amount: bigint }>()
  /** Accounts that exist from the beginning whatever happens: validators keep their key, names their owner. */
  readonly #founders = new Set<string>()
  readonly #paid = new Set<string>()
  readonly #slashed = new Set<string>()
  /** Members with a vertex in the second half of the current epoch. */
  readonly #present = new Set<string>()
  /** By epoch, the validator whose delegations its weights count. */
  readonly #weighedIn = new Map<number, number>()
  /** What the vertices of each epoch name as their base. */
  readonly #bases = new Map<number, string>()
  readonly #defaultCommission: bigint
  treasury: bigint
  total: bigint

  constructor(genesis: Genesis) {
    this.#defaultCommission = BigInt(genesis.protocol.defaultCommissionPercent)
    this.treasury = BigInt(genesis.treasury)
    this.total = this.treasury
    for (const { address, amount } of genesis.allocations) this.#pay(address, BigInt(amount))
    for (const address of genesis.council) this.council.add(address)
    for (const { address } of genesis.names) this.#founders.add(address)
    for (const { stake, commissionPercent, publicKey } of genesis.validators) {
      const address = Address.fromPublicKey(publicKey)
      this.stakes.set(address, { amount: BigInt(stake), leavingIn: null, unlockAt: 0 })
      this.#validator(address).commission = BigInt(commissionPercent)
      this.#founders.add(address)
      this.total += BigInt(stake)
    }
    for (const { amount } of genesis.allocations) this.total += BigInt(amount)
  }

  balance(address: string): bigint {
    return this.balances.get(address) ?? 0n
  }

  /** A spender has a nonce; nobody else can end with nothing, except by losing a seat. */
  #exists(address: string): boolean {
    const hasSpent = (this.nonces.get(address) ?? 0) > 0
    return this.balance(address) > 0n || hasSpent || this.council.has(address) || this.#founders.has(address)
  }

  #pay(address: string, amount: bigint): void {
    this.balances.set(address, this.balance(address) + amount)
  }

  #validator(address: string): NaiveValidator {
    let validator = this.validators.get(address)
    if (validator === undefined) {
      validator = {
        commission: this.#defaultCommission,
        commissionEpoch: 0,
        isBarred: false,
        working: emptyPool(),
        leaving: new Map(),
      }
      this.validators.set(address, validator)
    }
    return validator
  }

  /** Searches every pool. */
  delegation(holder: string): NaiveDelegation | undefined {
    for (const [address, validator] of this.validators) {
      for (const pool of poolsOf(validator)) if (pool.holders.has(holder)) return { validator: address, pool }
    }
    return undefined
  }

  /** Returns the outcome of each transaction of each vertex. */
  execute(vertices: ReadonlyArray<Vertex>, round: number, told: Told): ReadonlyArray<ReadonlyArray<Outcome["_tag"]>> {
    const [first] = vertices
    if (first !== undefined && !this.#bases.has(first.header.epoch)) {
      this.#bases.set(first.header.epoch, first.header.base)
    }
    const { firstRound, rules } = told.epoch
    const verdicts = vertices.map(({ header, body }, i) => {
      if (header.round >= firstRound + Math.floor(rules.epochRounds / 2)) this.#present.add(header.author)
      for (const { first } of body.evidence) this.#slash(first, told)
      const verdicts = body.transactions.map((transaction, j) =>
        this.#transact(transaction, header.author, told, told.outcomes[i]?.[j]),
      )
      this.#reward(header.author, header.round, BigInt(header.coinbase), told)
      return verdicts
    })
    this.#release(round, told)
    let { quorumPercent } = told.parameters
    for (const event of told.events) {
      if (event._tag === "ProposalDecided") this.#settleBond(event.id, quorumPercent, told)
      if (event._tag !== "ProposalCarriedOut") continue
      this.#carryOut(event, told)
      const payload = told.payloads.get(event.id)
      const isQuorum = payload?._tag === "ParameterChange" && payload.param === "quorum_percent"
      if (isQuorum && event.status === "Executed") quorumPercent = payload.value
    }
    if (told.closes) this.#close(told)
    return verdicts
  }

  #isActive(address: string): boolean {
    const stake = this.stakes.get(address)
    return (
      stake !== undefined &&
      stake.amount >= MIN_STAKE &&
      stake.leavingIn === null &&
      !(this.validators.get(address)?.isBarred ?? false)
    )
  }

  /** Whether a rule allows it, and what it takes from the sender besides the fee; null for a broken rule. */
  #price({ from, operation }: Transaction, told: Told, outcome: Outcome | undefined): bigint | null {
    const stake = this.stakes.get(from)
    const delegation = this.delegation(from)
    switch (operation._tag) {
      case "Transfer":
        return BigInt(operation.amount)
      case "StakeTx": {
        if (delegation !== undefined) return null
        if (stake !== undefined && stake.leavingIn !== null) return null
        const isMember = told.epoch.members.some(({ address }) => address === from)
        if (this.validators.get(from)?.isBarred && (stake !== undefined || isMember)) return null
        return BigInt(operation.amount)
      }
      case "UnstakeTx":
        return stake === undefined || stake.leavingIn !== null ? null : 0n
      case "SetCommissionTx":
        if (stake === undefined || stake.leavingIn !== null) return null
        return this.#validator(from).commissionEpoch === told.epoch.epoch ? null : 0n
      case "DelegateTx": {
        if (operation.amount < told.parameters.minDelegation || operation.validator === from) return null
        if (stake !== undefined || !this.#isActive(operation.validator)) return null
        if (this.departures.has(from) && delegation !== undefined) return null
        if (delegation !== undefined && delegation.validator !== operation.validator) return null
        const { working } = this.#validator(operation.validator)
        return this.#sharesFor(working, BigInt(operation.amount)) === 0n ? null : BigInt(operation.amount)
      }
      case "UndelegateTx":
        return delegation === undefined || this.departures.has(from) ? null : 0n
      case "CreateProposalTx":
        return outcome?._tag === "Applied" ? BigInt(told.parameters.proposalBond) : null
      case "VoteTx":
      case "RegisterNameTx":
      case "SetAccountPolicyTx":
      case "RotateKeyTx":
        return outcome?._tag === "Applied" ? 0n : null
    }
  }

  #sharesFor(pool: NaivePool, amount: bigint): bigint {
    const shares = sharesOf(pool)
    return shares === 0n ? amount : (amount * shares) / pool.amount
  }

  /** The smallest amount not below what these shares are worth at the current price. */
  #costOf(pool: NaivePool, minted: bigint): bigint {
    const shares = sharesOf(pool)
    if (shares === 0n) return minted
    const exact = minted * pool.amount
    return exact % shares === 0n ? exact / shares : exact / shares + 1n
  }

  #transact(transaction: Transaction, author: string, told: Told, outcome: Outcome | undefined): Outcome["_tag"] {
    const { from, nonce, operation } = transaction
    const fee = BigInt(transaction.fee)
    const balance = this.balance(from)
    if (nonce !== (this.nonces.get(from) ?? 0) || fee > balance) return "NoEffect"
    if (outcome?._tag === "NoEffect" && outcome.reason._tag === "InvalidSignature") return "NoEffect"
    const exempt = ["StakeTx", "UnstakeTx", "DelegateTx", "UndelegateTx", "SetCommissionTx"].includes(operation._tag)
    if (fee === 0n && !exempt) return "NoEffect"
    const { minFee, nameFee, accountFee } = told.parameters
    const isFirst = operation._tag === "Transfer" && !this.#exists(operation.to)
    const forAccount = isFirst ? BigInt(accountFee) : 0n
    const minimum = exempt ? 0n : BigInt(operation._tag === "RegisterNameTx" ? nameFee : minFee) + forAccount
    const price = fee < minimum ? null : this.#price(transaction, told, outcome)
    if (price === null || price + fee > balance) {
      const kept = exempt && fee < BigInt(minFee) ? BigInt(minFee) : fee
      if (kept > balance) return "NoEffect"
      this.nonces.set(from, nonce + 1)
      this.#pay(from, -kept)
      this.#pay(author, kept)
      return "Failed"
    }
    this.nonces.set(from, nonce + 1)
    this.#pay(from, -fee - (operation._tag === "DelegateTx" ? 0n : price))
    const toTreasury = operation._tag === "RegisterNameTx" ? fee : forAccount
    this.treasury += toTreasury
    this.#pay(author, fee - toTreasury)
    if (outcome?._tag === "Applied" && outcome.proposalId !== null) {
      this.bonds.set(outcome.proposalId, { proposer: from, amount: price })
    }
    this.#do(transaction, told)
    return "Applied"
  }

  #do({ from, operation }: Transaction, told: Told): void {
    const { epoch, firstRound, rules } = told.epoch
    const unlockAt = firstRound + rules.epochRounds - 1 + told.parameters.cooldownRounds
    if (operation._tag === "Transfer") this.#pay(operation.to, BigInt(operation.amount))
    if (operation._tag === "StakeTx") {
      const stake = this.stakes.get(from)
      this.stakes.set(from, { amount: (stake?.amount ?? 0n) + BigInt(operation.amount), leavingIn: null, unlockAt: 0 })
      if (stake === undefined) this.#validator(from).commission = this.#defaultCommission
      this.#validator(from).isBarred = false
      this.departures.delete(from)
    }
    if (operation._tag === "UnstakeTx") {
      const stake = this.stakes.get(from)
      if (stake !== undefined) Object.assign(stake, { leavingIn: epoch, unlockAt })
    }
    if (operation._tag === "SetCommissionTx") {
      const commission = BigInt(operation.commissionPercent)
      Object.assign(this.#validator(from), { commission, commissionEpoch: epoch })
    }
    if (operation._tag === "DelegateTx") {
      const { working } = this.#validator(operation.validator)
      const minted = this.#sharesFor(working, BigInt(operation.amount))
      const cost = this.#costOf(working, minted)
      this.#pay(from, -cost)
      working.amount += cost
      working.holders.set(from, (working.holders.get(from) ?? 0n) + minted)
      this.departures.delete(from)
    }
    if (operation._tag === "UndelegateTx") this.departures.set(from, { leavingIn: epoch, unlockAt })
  }

  #reward(author: string, round: number, claimed: bigint, { epoch }: Told): void {
    const slot = `${epoch.epoch} ${round} ${author}`
    if (this.#paid.has(slot)) return
    this.#paid.add(slot)
    const minted = this.total + claimed > CAP ? CAP - this.total : claimed
    const seats = BigInt(this.council.size)
    const treasury = (minted * BigInt(epoch.rules.treasuryPercent)) / 100n
    const council = (minted * BigInt(epoch.rules.councilPercent)) / 100n
    const each = seats === 0n ? 0n : council / seats
    let left = minted - treasury - council
    const { commission, working } = this.#validator(author)
    left -= (left * commission) / 100n
    const own = this.stakes.get(author)?.amount ?? 0n
    const delegators = working.amount === 0n ? 0n : (left * working.amount) / (own + working.amount)
    const toTreasury = treasury + (seats === 0n ? council : 0n)
    this.total += minted
    this.treasury += toTreasury
    working.amount += delegators
    for (const member of this.council) this.#pay(member, each)
    this.#pay(author, minted - toTreasury - each * seats - delegators)
  }

  #slash({ author, epoch, base }: Header, told: Told): void {
    if (this.#bases.get(epoch) !== base) return
    const record = epoch === told.epoch.epoch ? told.epoch : told.previousEpoch
    const mark = `${epoch} ${author}`
    if (record?.epoch !== epoch || this.#slashed.has(mark)) return
    if (!record.members.some(({ address }) => address === author)) return
    this.#slashed.add(mark)
    const percent = BigInt(told.parameters.slashPercent)
    const validator = this.#validator(author)
    validator.isBarred = true
    const stake = this.stakes.get(author)
    if (stake !== undefined) {
      const burned = (stake.amount * percent) / 100n
      stake.amount -= burned
      this.total -= burned
      if (stake.amount === 0n) this.stakes.delete(author)
    }
    for (const pool of poolsOf(validator)) {
      const burned = (pool.amount * percent) / 100n
      pool.amount -= burned
      this.total -= burned
      if (pool.amount === 0n) {
        for (const holder of pool.holders.keys()) this.departures.delete(holder)
        pool.holders.clear()
      }
    }
  }

  #take(pool: NaivePool, holder: string): bigint {
    const shares = pool.holders.get(holder) ?? 0n
    const all = sharesOf(pool)
    const amount = shares === all ? pool.amount : (shares * pool.amount) / all
    pool.amount -= amount
    pool.holders.delete(holder)
    return amount
  }

  #release(round: number, { epoch, previousEpoch }: Told): void {
    const isFree = (leavingIn: number, unlockAt: number): boolean => unlockAt <= round && leavingIn + 2 <= epoch.epoch
    for (const [address, stake] of [...this.stakes]) {
      if (stake.leavingIn === null || !isFree(stake.leavingIn, stake.unlockAt)) continue
      const members = [...epoch.members, ...(previousEpoch?.members ?? [])]
      if (members.some((member) => member.address === address)) continue
      this.#pay(address, stake.amount)
      this.stakes.delete(address)
      this.#validator(address).isBarred = false
    }
    const due = [...this.departures]
      .filter(([, { leavingIn, unlockAt }]) => isFree(leavingIn, unlockAt))
      .sort(([a, x], [b, y]) => x.unlockAt - y.unlockAt || x.leavingIn - y.leavingIn || (a < b ? -1 : 1))
    const counts = (committee: EpochRecord | undefined, validator: string, leavingIn: number): boolean =>
      committee !== undefined &&
      (this.#weighedIn.get(committee.epoch) ?? committee.epoch) <= leavingIn &&
      committee.members.some((member) => member.address === validator)
    for (const [address, { leavingIn }] of due) {
      const delegation = this.delegation(address)
      const isHeld =
        delegation !== undefined &&
        [epoch, previousEpoch].some((committee) => counts(committee, delegation.validator, leavingIn))
      if (isHeld) continue
      this.departures.delete(address)
      if (delegation !== undefined) {
        this.#pay(address, this.#take(delegation.pool, address))
      }
    }
  }

  #close({ epoch }: Told): void {
    const stays = epoch.members.some(({ address }) => this.#isActive(address) && this.#present.has(address))
    this.#present.clear()
    if (!stays) this.#weighedIn.set(epoch.epoch + 1, this.#weighedIn.get(epoch.epoch) ?? epoch.epoch)
    for (const { working, leaving } of this.validators.values()) {
      const all = sharesOf(working)
      const left = new Map(
        [...working.holders].filter(([holder]) => this.departures.get(holder)?.leavingIn === epoch.epoch),
      )
      const shares = sharesOf({ amount: 0n, holders: left })
      if (shares === 0n) continue
      const amount = shares === all ? working.amount : (shares * working.amount) / all
      working.amount -= amount
      for (const holder of left.keys()) {
        working.holders.delete(holder)
        if (amount === 0n) this.departures.delete(holder)
      }
      if (amount > 0n) leaving.set(epoch.epoch, { amount, holders: left })
    }
  }

  #settleBond(id: number, quorumPercent: number, { votes }: Told): void {
    const bond = this.bonds.get(id)
    const vote = votes.get(id)
    if (bond === undefined || vote === undefined) throw new Error(`proposal ${id} has no bond or no votes`)
    this.bonds.delete(id)
    if (100n * vote.cast >= BigInt(quorumPercent) * vote.snapshot) this.#pay(bond.proposer, bond.amount)
    else this.treasury += bond.amount
  }

  #carryOut({ id, status }: Extract<Event, { readonly _tag: "ProposalCarriedOut" }>, told: Told): void {
    const payload = told.payloads.get(id)
    if (payload === undefined || status === "Failed") return
    if (payload._tag === "TreasurySpend") {
      this.treasury -= BigInt(payload.amount)
      this.#pay(payload.recipient, BigInt(payload.amount))
    }
    if (payload._tag === "CouncilMembership") {
      if (payload.action === "add") this.council.add(payload.address)
      else this.council.delete(payload.address)
    }
  }
}
