/**
 * Recounts the whole supply from the records, in any order and in slices of any size, and compares it with the running
 * totals. It runs at start over all records, at checkpoints over the leaves of the frozen state, and continuously over
 * the accounts in memory while they change.
 */
import { Either } from "effect"
import { toHex } from "#crypto"
import type * as Binary from "../../protocol/encoding/Binary.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"
import * as StateTree from "../../protocol/state/StateTree.js"
import type { Leaf } from "../trie/Leaf.js"
import * as LeavingPools from "./LeavingPools.js"
import type { Pool } from "./Pool.js"
import type { Proposal, Totals, Validator } from "./Records.js"
import * as Records from "./Records.js"
import { type Component, SupplyInvariantViolated, sumOf, zero } from "./Supply.js"

/** Shares by validator, the epoch in which their holder left (0 if it stays), and generation. */
const shareKey = (validator: Address, epoch: number, generation: number): string =>
  `${validator} ${epoch} ${generation}`

interface Expected {
  readonly pool: Pool
  /** Keys of the shares that must add up to the pool's. */
  readonly keys: ReadonlyArray<string>
}

/** The balance, if this encoded `StateRecord` is an account with no other money. */
const balanceAlone = (bytes: Uint8Array, start: number, end: number): Sats.Sats | undefined =>
  bytes[start] === StateKey.KINDS.Account.byte
    ? AccountRecord.balanceAlone(bytes, start + 1 + StateKey.KINDS.Account.keyBytes, end)
    : undefined

export class Recount {
  #counted: { -readonly [K in keyof Totals]: Totals[K] } = { ...zero }
  readonly #shares = new Map<string, bigint>()
  readonly #validators: Array<readonly [Address, Validator]> = []
  readonly #pools: Array<Expected> = []
  #epoch = 0
  #expected: Totals = zero
  #badBalance: number | undefined

  /**
   * Counts the records of a leaf, which this node put there. For accounts without stake or delegation, as nearly all
   * are, only the balance is read: decoding them would take forty times as long at every checkpoint.
   */
  leaf(leaf: Leaf): Either.Either<void, Binary.MalformedBytes> {
    for (const { bytes, start, end } of leaf.spans()) {
      const from = start + StateTree.RECORD_HEADER_BYTES
      const balance = balanceAlone(bytes, from, end)
      if (balance !== undefined) this.#add("liquid", balance)
      else {
        const added = Either.flatMap(StateRecord.decode(bytes.subarray(from, end)), (record) => this.add(record))
        if (Either.isLeft(added)) return added
      }
    }
    return Either.void
  }

  /** Counts a record; kinds without money are ignored. */
  add({ kind, key, value }: StateRecord.StateRecord): Either.Either<void, Binary.MalformedBytes> {
    switch (kind) {
      case "Account":
        return Either.map(AccountRecord.decode(value), (record) => this.account(record.balance, record))
      case "Validator":
        return Either.map(Records.decode(Records.validator, value), (validator) =>
          this.validator(toHex(key) as Address, validator),
        )
      case "Proposal":
        return Either.map(Records.decode(Records.proposal, value), (proposal) => this.proposal(proposal))
      case "LeavingPool":
        return Either.map(Records.decode(Records.leavingPool, value), (pool) => {
          const [validator, epoch] = LeavingPools.partsOf(toHex(key))
          this.leavingPool(validator, epoch, pool)
        })
      case "Epoch":
        return Either.map(Records.decode(Records.epoch, value), ({ record }) => this.epoch(record.epoch))
      case "Totals":
        return Either.map(Records.decode(Records.totals, value), (totals) => this.totals(totals))
      default:
        return Either.void
    }
  }

  account(balance: Sats.Sats, { stake, delegation }: AccountRecord.Extras): void {
    // Two invalid balances could cancel out in the sum.
    if (!Sats.isSats(balance)) this.#badBalance ??= balance
    this.#add("liquid", balance)
    if (stake !== null) this.#add("staked", stake.amount)
    this.#hold(delegation, 1n)
  }

  /** A counted balance has changed by this amount. */
  moved(change: number): void {
    this.#add("liquid", change as Sats.Sats)
  }

  exchanged(before: AccountRecord.Extras, after: AccountRecord.Extras): void {
    const staked = (after.stake?.amount ?? 0) - (before.stake?.amount ?? 0)
    this.#add("staked", staked as Sats.Sats)
    this.#hold(before.delegation, -1n)
    this.#hold(after.delegation, 1n)
  }

  #hold(delegation: AccountRecord.Delegation | null, sign: bigint): void {
    if (delegation === null) return
    const key = shareKey(delegation.validator, delegation.leaving?.epoch ?? 0, delegation.generation)
    this.#shares.set(key, (this.#shares.get(key) ?? 0n) + sign * delegation.shares)
  }

  validator(address: Address, validator: Validator): void {
    this.#add("delegated", validator.working.amount)
    this.#validators.push([address, validator])
  }

  /** A held bond is its proposer's money but in no balance. */
  proposal({ bond, bondStatus }: Pick<Proposal, "bond" | "bondStatus">): void {
    if (bondStatus === "held") this.#add("liquid", bond)
  }

  leavingPool(validator: Address, epoch: number, pool: Pool): void {
    this.#add("delegated", pool.amount)
    this.#pools.push({ pool, keys: [shareKey(validator, epoch, pool.generation)] })
  }

  /** The highest epoch with a record is the running one. */
  epoch(epoch: number): void {
    this.#epoch = Math.max(this.#epoch, epoch)
  }

  /** The required result of the count. Only the totals record the treasury, so its amount comes from here. */
  totals(expected: Totals): void {
    this.#expected = expected
  }

  #add(component: Component, amount: Sats.Sats): void {
    this.#counted[component] = (this.#counted[component] + amount) as Sats.Sats
  }

  #sharesUnder(keys: ReadonlyArray<string>): bigint {
    return keys.reduce((sum, key) => sum + (this.#shares.get(key) ?? 0n), 0n)
  }

  #shareProblem(): string | undefined {
    for (const [address, { working, departing }] of this.#validators) {
      const keys = [0, this.#epoch].map((epoch) => shareKey(address, epoch, working.generation))
      this.#pools.push({ pool: working, keys })
      const held = this.#sharesUnder(keys.slice(1))
      if (held !== departing)
        return `${departing} shares of ${address} count as departing, but its delegators hold ${held}`
    }
    for (const { pool, keys } of this.#pools) {
      const held = this.#sharesUnder(keys)
      const [key] = keys
      if (held !== pool.shares) return `pool ${key} has ${pool.shares} shares, but its delegators hold ${held}`
      if ((pool.shares === 0n) !== (pool.amount === 0))
        return `pool ${key} has ${pool.shares} shares for ${pool.amount} sats`
    }
    return undefined
  }

  finish(): Either.Either<Totals, SupplyInvariantViolated> {
    const expected = this.#expected
    const counted = { ...this.#counted, treasury: expected.treasury }
    const found = { ...counted, total: sumOf(counted) }
    const problem = this.#problem(found, expected) ?? this.#shareProblem()
    return problem === undefined
      ? Either.right(found)
      : Either.left(new SupplyInvariantViolated({ found, expected, problem }))
  }

  #problem(found: Totals, expected: Totals): string | undefined {
    if (this.#badBalance !== undefined) return `an account has a balance of ${this.#badBalance} sats`
    if (found.liquid !== expected.liquid) return "balances and held bonds do not add up to the liquid total"
    if (found.staked !== expected.staked) return "the stakes do not add up to the staked total"
    if (found.delegated !== expected.delegated) return "the pools do not add up to the delegated total"
    if (found.total !== expected.total) return "the components do not add up to the total supply"
    return found.total > Sats.MAX_SUPPLY ? `supply above ${Sats.MAX_SUPPLY} sats` : undefined
  }
}
