/**
 * Members with less than a third of the weight fill the waiting room up to its limits. The cost is counted, not timed:
 * an input or a look must not cost more because other members have many waiting vertices.
 */
import { describe, expect, it } from "vitest"
import { Admission } from "../../src/consensus/admission/Admission.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Parent } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { committeeOf, equalWeights, openingOf, recordOf } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const NOW = Natural.timestamp(100_000)
const look = { upTo: 99, retryMs: 500, isOnItsWay: () => false, awaitedMs: 100 }
const LOOK_MS = 125
/** Rounds in which the liars fill their slots twice. */
const ROUNDS = 8

/** A committee whose first seats, less than a third, are liars. */
class Crowd {
  readonly size: number
  readonly liars: ReadonlyArray<number>
  readonly admission: Admission
  readonly #dag: Dag
  readonly #builder: VertexBuilder
  readonly #honest: Array<ReadonlyArray<Vertex>> = []
  #serial = 0

  constructor(size: number) {
    this.size = size
    this.liars = Array.from({ length: Math.ceil(size / 3) - 1 }, (_, seat) => seat)
    this.#dag = new Dag(committeeOf(equalWeights(size)))
    this.#builder = new VertexBuilder(openingOf(recordOf(equalWeights(size))))
    this.admission = new Admission(this.#dag, () => undefined)
  }

  #receive(vertex: Vertex, seat: number): void {
    this.admission.receive(vertex, seat)
  }

  /** The next whole round. Returns the work for each vertex. */
  round(): ReadonlyArray<number> {
    const parents = (this.#honest.at(-1) ?? []).map(parentOf)
    const at = this.#honest.length + 1
    const row = Array.from({ length: this.size }, (_, seat) => this.#builder.make(seat, at, parents))
    this.#honest.push(row)
    return row.map((vertex, seat) => this.#work(() => this.#receive(vertex, seat)))
  }

  #work(act: () => void): number {
    const before = this.admission.steps
    act()
    return this.admission.steps - before
  }

  /** Second vertices that name only each other, as many as are admitted. */
  equivocate(): void {
    const perRound = 64 / ROUNDS
    let below: ReadonlyArray<ReadonlyArray<Parent>> = this.liars.map(() => [])
    for (let round = 1; round <= ROUNDS; round++) {
      const honest = (this.#honest[round - 2] ?? []).slice(this.liars.length).map(parentOf)
      const row = this.liars.map((seat) =>
        Array.from({ length: perRound }, (_, i) => {
          const twins = below.flatMap((slot) => slot[i] ?? [])
          const timestamp = Natural.timestamp(1_000 * round + i + 1)
          const vertex = this.#builder.make(seat, round, [...twins, ...honest], { timestamp })
          this.#receive(vertex, seat)
          return parentOf(vertex)
        }),
      )
      below = row
    }
  }

  /** First vertices of future rounds with nonexistent parents, as many as are admitted. */
  invent(): void {
    for (const seat of this.liars) {
      for (let i = 0; i < 8; i++) {
        const parents = Array.from({ length: 290 }, () => this.#phantom())
        this.#receive(this.#builder.make(seat, ROUNDS + 20 + i, parents), seat)
      }
    }
  }

  #phantom(): Parent {
    const serial = ++this.#serial
    const hash = Hash.of("udg/seed", new Uint8Array([serial & 0xff, (serial >>> 8) & 0xff, serial >>> 16]))
    return { round: Natural.round(ROUNDS + 2), author: this.#builder.committee.member(0).address, hash }
  }

  /** The work of each look during this time, and its questions. */
  looks(forMs: number): ReadonlyArray<{ readonly work: number; readonly asked: number }> {
    return Array.from({ length: Math.floor(forMs / LOOK_MS) }, (_, i) => {
      let asked = 0
      const work = this.#work(() => {
        asked = this.admission.toFetch({ ...look, now: Natural.timestamp(NOW + i * LOOK_MS) }).length
      })
      return { work, asked }
    })
  }
}

describe.each([31, 100])("in a committee of %i", (size) => {
  // Each input used to check for every second vertex whether any waiting one names it: 180 ms per input with 31
  // members, and without end with 100.
  it("second vertices that fill the waiting room cost the others nothing", () => {
    const crowd = new Crowd(size)
    for (let round = 0; round <= ROUNDS; round++) crowd.round()
    const alone = Math.max(...crowd.round())
    crowd.equivocate()
    expect(crowd.admission.waiting).toBe(64 * crowd.liars.length)
    expect(Math.max(...crowd.round())).toBe(alone)
  })

  // Every look used to walk over everything missing: 102 of every 125 ms with 100 members.
  it("nonexistent parents cost a look only its own questions, and no author gets more than its share", () => {
    const crowd = new Crowd(size)
    for (let round = 0; round <= ROUNDS; round++) crowd.round()
    crowd.invent()
    expect(crowd.admission.wants).toBe(8 * 290 * crowd.liars.length)
    const looks = crowd.looks(60_000)
    // Each examined place leads to a question, or returns a requested parent to its queue.
    for (const { work } of looks) expect(work).toBeLessThanOrEqual(4 * 256)
    const asked = looks.slice(-4).reduce((sum, look) => sum + look.asked, 0)
    // Within the time after which a question is repeated: 64 of each liar.
    expect(asked).toBeGreaterThan(0)
    expect(asked).toBeLessThanOrEqual(64 * crowd.liars.length)
  })
})
