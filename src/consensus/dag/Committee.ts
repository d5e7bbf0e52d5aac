/** The committee of one epoch: its members, their weights, and the leader of each round. Fixed for the epoch. */

import * as Binary from "../../protocol/encoding/Binary.js"
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import type * as Address from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"

export interface Schedule {
  readonly leaderOf: (round: Round) => number
}

/**
 * H("udg/leader", seed ‖ round u64 ‖ 0 u32) as a big-endian integer, modulo the total weight. The trailing zero leaves
 * room for several leader slots a round.
 */
const draw = (record: EpochRecord.EpochRecord, totalWeight: Sats, round: Round): number => {
  const ticket = Hash.of(
    "udg/leader",
    Binary.encode((writer) => writer.hex(record.seed).u64(round).u32(0)),
  )
  return Number(BigInt(`0x${ticket}`) % BigInt(totalWeight))
}

/** A view of an epoch record. Members are identified by their seat: their position in address order. */
export class Committee implements Schedule {
  readonly record: EpochRecord.EpochRecord
  readonly totalWeight: Sats
  readonly #seats = new Map<Address.Address, number>()
  /** The total weight of all lower seats, by seat, to look up drawn tickets. */
  readonly #below: ReadonlyArray<number>
  readonly #leaders = new Map<Round, number>()

  constructor(record: EpochRecord.EpochRecord) {
    this.record = record
    this.totalWeight = EpochRecord.totalWeight(record)
    let sum = 0
    this.#below = record.members.map((member, seat) => {
      this.#seats.set(member.address, seat)
      const below = sum
      sum += member.weight
      return below
    })
  }

  get size(): number {
    return this.record.members.length
  }

  get firstRound(): Round {
    return this.record.firstRound
  }

  seatOf(address: Address.Address): number | undefined {
    return this.#seats.get(address)
  }

  /** Seats come from `seatOf` and `leaderOf`, never from a message. */
  member(seat: number): EpochRecord.Member {
    const member = this.record.members[seat]
    if (member === undefined) throw new RangeError(`seat ${seat} of a committee of ${this.size}`)
    return member
  }

  weightOf(seat: number): Sats {
    return this.member(seat).weight
  }

  isQuorum(weight: number): boolean {
    return EpochRecord.isQuorum(weight, this.totalWeight)
  }

  /** The exact number of sats that a vertex of this seat and round mints. */
  coinbase(round: Round, seat: number): Sats {
    return EpochRecord.coinbase(this.record.rules, round, this.weightOf(seat), this.totalWeight)
  }

  leaderOf(round: Round): number {
    let leader = this.#leaders.get(round)
    if (leader === undefined) {
      const ticket = draw(this.record, this.totalWeight, round)
      leader = this.#below.findLastIndex((below) => below <= ticket)
      this.#leaders.set(round, leader)
    }
    return leader
  }
}
