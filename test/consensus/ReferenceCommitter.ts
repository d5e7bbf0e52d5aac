/**
 * The commit rule again, straight from its definition and without regard for cost: every question walks the vertices
 * again, and only verdicts are cached. The incremental committer must agree with it.
 */
import type { Committee, Schedule } from "../../src/consensus/dag/Committee.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"

export type ReferenceVerdict = { readonly _tag: "Commit"; readonly leader: Vertex } | { readonly _tag: "Skip" } | null

export class ReferenceCommitter {
  readonly #committee: Committee
  readonly #schedule: Schedule
  readonly #vertices: ReadonlyArray<Vertex>
  readonly #byHash: ReadonlyMap<Hash, Vertex>
  readonly #highest: number
  readonly #verdicts = new Map<number, ReferenceVerdict>()

  constructor(committee: Committee, schedule: Schedule, vertices: ReadonlyArray<Vertex>) {
    this.#committee = committee
    this.#schedule = schedule
    this.#vertices = vertices
    this.#byHash = new Map(vertices.map((vertex) => [vertex.header.hash, vertex]))
    this.#highest = Math.max(0, ...vertices.map(({ header }) => header.round))
  }

  #at(round: number): ReadonlyArray<Vertex> {
    return this.#vertices.filter(({ header }) => header.round === round)
  }

  #leader(round: number): Address {
    return this.#committee.member(this.#schedule.leaderOf(Natural.round(round))).address
  }

  #hasQuorum(vertices: ReadonlyArray<Vertex>): boolean {
    const authors = new Set(vertices.map(({ header }) => header.author))
    return this.#committee.isQuorum(
      [...authors].reduce((sum, author) => sum + this.#committee.weightOf(this.#committee.seatOf(author) ?? 0), 0),
    )
  }

  #vote(voter: Vertex, round: number): Hash | undefined {
    const leader = this.#leader(round)
    return voter.header.parents.find((parent) => parent.round === round && parent.author === leader)?.hash
  }

  #parents(vertex: Vertex): ReadonlyArray<Vertex> {
    return vertex.header.parents.flatMap(({ hash }) => this.#byHash.get(hash) ?? [])
  }

  #certifies(vertex: Vertex, leader: Vertex): boolean {
    const { round, hash } = leader.header
    return this.#hasQuorum(
      this.#parents(vertex).filter((parent) => parent.header.round === round + 1 && this.#vote(parent, round) === hash),
    )
  }

  #history(vertex: Vertex): ReadonlySet<Vertex> {
    const found = new Set([vertex])
    for (const each of found) for (const parent of this.#parents(each)) found.add(parent)
    return found
  }

  #candidates(round: number): ReadonlyArray<Vertex> {
    return this.#at(round).filter(({ header }) => header.author === this.#leader(round))
  }

  #direct(round: number): ReferenceVerdict {
    const committed = this.#candidates(round).find((leader) =>
      this.#hasQuorum(this.#at(round + 2).filter((vertex) => this.#certifies(vertex, leader))),
    )
    if (committed !== undefined) return { _tag: "Commit", leader: committed }
    const blames = this.#at(round + 1).filter((vertex) => this.#vote(vertex, round) === undefined)
    return this.#hasQuorum(blames) ? { _tag: "Skip" } : null
  }

  verdict(round: number): ReferenceVerdict {
    const known = this.#verdicts.get(round)
    if (known !== undefined) return known
    const verdict = this.#judge(round)
    this.#verdicts.set(round, verdict)
    return verdict
  }

  #judge(round: number): ReferenceVerdict {
    const direct = this.#direct(round)
    if (direct !== null) return direct
    const anchor = this.#anchor(round)
    if (anchor?._tag !== "Commit") return null
    const certificates = [...this.#history(anchor.leader)].filter(({ header }) => header.round === round + 2)
    const certified = this.#candidates(round).find((leader) =>
      certificates.some((vertex) => this.#certifies(vertex, leader)),
    )
    return certified === undefined ? { _tag: "Skip" } : { _tag: "Commit", leader: certified }
  }

  /** How the verdict was reached. */
  kindOf(round: number): string {
    const verdict = this.verdict(round)
    if (verdict === null) return "undecided"
    const how = this.#direct(round) === null ? "by the anchor" : "directly"
    return `${verdict._tag === "Commit" ? "committed" : "skipped"} ${how}`
  }

  #anchor(round: number): ReferenceVerdict {
    for (let above = round + 3; above <= this.#highest; above++) {
      const verdict = this.verdict(above)
      if (verdict?._tag !== "Skip") return verdict
    }
    return null
  }

  /** The longest decided prefix. */
  released(): ReadonlyArray<Exclude<ReferenceVerdict, null>> {
    const released: Array<Exclude<ReferenceVerdict, null>> = []
    for (let round: number = this.#committee.firstRound; ; round++) {
      const verdict = this.verdict(round)
      if (verdict === null) return released
      released.push(verdict)
    }
  }
}
