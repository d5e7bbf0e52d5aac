/** The round that a quorum has reached, according to its members' signed vertices, insertable or not. */
import type { Round } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Committee } from "./Committee.js"

/** Less than a third of the weight cannot move it: some honest member has reached the round it shows. */
export class QuorumProgress {
  readonly #committee: Committee
  readonly #rounds: Array<Round>
  #round: Round
  /** Weight of the members above `#round`; less than a quorum. */
  #ahead = 0

  constructor(committee: Committee) {
    this.#committee = committee
    this.#round = Natural.round(committee.firstRound - 1)
    this.#rounds = committee.record.members.map(() => this.#round)
  }

  /** The highest round at or above which members of a quorum have signed. */
  get round(): Round {
    return this.#round
  }

  add(seat: number, round: Round): void {
    const before = this.#rounds[seat]
    if (before === undefined || round <= before) return
    this.#rounds[seat] = round
    if (round <= this.#round || before > this.#round) return
    this.#ahead += this.#committee.weightOf(seat)
    if (this.#committee.isQuorum(this.#ahead)) this.#count()
  }

  #count(): void {
    const seats = this.#rounds.map((round, seat) => ({ round, weight: this.#committee.weightOf(seat) }))
    let weight = 0
    for (const seat of seats.sort((a, b) => b.round - a.round)) {
      if (!this.#committee.isQuorum(weight)) this.#round = seat.round
      weight += seat.weight
    }
    this.#ahead = seats.reduce((sum, seat) => (seat.round > this.#round ? sum + seat.weight : sum), 0)
  }
}
