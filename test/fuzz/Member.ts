/** The adversary's own seats: valid vertices in every round, with arbitrary bodies. */

import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import type * as Header from "../../src/protocol/vertex/Header.js"
import * as HeaderOf from "../../src/protocol/vertex/Header.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { Purse } from "../edges/Purse.js"
import type { Chance } from "../simulation/Chance.js"
import type { Person } from "../simulation/World.js"
import type { Forge } from "./Forge.js"
import type { Knowledge } from "./Knowledge.js"

export interface Surroundings {
  readonly knowledge: Knowledge
  readonly purse: Purse
  readonly forge: Forge
  readonly chance: Chance
  readonly now: () => number
  readonly isEquivocating: boolean
  /** The pending transactions of honest people. */
  readonly waiting: () => ReadonlyArray<Transaction>
}

const MOST_VARIANTS = 12

export class Member {
  readonly #person: Person
  readonly #around: Surroundings
  #epoch = 0
  #made = 0
  #last: Header.Header | null = null
  /** Makes a vertex only while a payment is pending, to steal it. */
  readonly #isThief: boolean
  readonly #stolen = new Set<string>()

  constructor(person: Person, around: Surroundings) {
    this.#person = person
    this.#around = around
    this.#isThief = around.chance.percent(50)
  }

  /**
   * Its vertices of the next round, once a quorum of the previous one is known; several for one slot if it equivocates.
   */
  advance(): ReadonlyArray<Message> {
    const { knowledge, chance, isEquivocating } = this.#around
    const { record } = knowledge.opening
    if (record.epoch !== this.#epoch) {
      this.#epoch = record.epoch
      this.#made = record.firstRound - 1
      this.#last = null
    }
    const round = knowledge.highestQuorum + 1
    const seat = knowledge.committee.seatOf(this.#person.address)
    if (seat === undefined || knowledge.isClosed || round <= this.#made) return []
    if (this.#isThief && this.#prey().length === 0) return []
    this.#made = round
    if (chance.percent(5)) return []
    const count = isEquivocating && chance.percent(15) ? chance.between(2, MOST_VARIANTS) : 1
    const vertices = Array.from({ length: count }, (_, variant) => this.#make(round, seat, variant))
    this.#last = vertices[0]?.header ?? null
    return vertices.map((vertex) => ({ _tag: "Vertices", vertices: [vertex] }))
  }

  #make(round: number, seat: number, variant: number): Vertex.Vertex {
    const { knowledge, forge, chance, now } = this.#around
    const made = forge.body()
    const body = { ...made, transactions: [...this.#steal(), ...made.transactions].slice(0, 5_000) }
    const content: Header.Content = {
      base: knowledge.opening.base,
      epoch: knowledge.opening.record.epoch,
      round: Natural.round(round),
      publicKey: this.#person.signer.publicKey,
      parents: this.#parents(round),
      timestamp: Natural.timestamp(now() + variant + (chance.percent(5) ? 1_000_000 : 0)),
      coinbase: knowledge.committee.coinbase(Natural.round(round), seat),
      bodyHash: Vertex.bodyHash(body),
    }
    return Vertex.make(HeaderOf.make(content, this.#person.signer.sign), body)
  }

  #prey(): ReadonlyArray<Transaction> {
    return this.#around.waiting().filter(({ id }) => !this.#stolen.has(id))
  }

  /** The pending transactions of others under valid signatures of wrong keys. */
  #steal(): ReadonlyArray<Transaction> {
    const { purse } = this.#around
    const prey = this.#prey()
    for (const { id } of prey) this.#stolen.add(id)
    return prey.map((transaction) => purse.usurped(transaction))
  }

  /** A quorum: one vertex of each slot of the previous round, including its own latest one. */
  #parents(round: number): ReadonlyArray<Header.Parent> {
    const { knowledge, chance } = this.#around
    if (round === knowledge.opening.record.firstRound) return []
    const parents: Array<Header.Parent> = []
    for (const [author, vertices] of knowledge.rows.get(round - 1) ?? []) {
      const own =
        author === this.#person.address ? vertices.find(({ header }) => header.hash === this.#last?.hash) : undefined
      const { header } = own ?? chance.pick(vertices)
      parents.push({ round: header.round, author: header.author, hash: header.hash })
    }
    const hasOwn = parents.some(({ author }) => author === this.#person.address)
    // Sometimes older ones as well, some of which do not exist.
    for (let extra = chance.percent(20) ? chance.between(1, 8) : 0; extra > 0; extra--) {
      const old = round - chance.between(2, 9)
      const vertices = [...(knowledge.rows.get(old)?.values() ?? [])].flat()
      if (vertices.length === 0) continue
      const { header } = chance.pick(vertices)
      if (hasOwn && header.author === this.#person.address) continue
      if (parents.some((each) => each.round === header.round && each.author === header.author)) continue
      const isReal = !this.#around.isEquivocating || chance.percent(50)
      parents.push({ round: header.round, author: header.author, hash: isReal ? header.hash : header.bodyHash })
    }
    return parents
  }
}
