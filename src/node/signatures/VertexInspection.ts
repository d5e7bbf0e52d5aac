/**
 * Judges peers' vertices in steps, cheapest first: whether the vertex is needed, by its header alone; the header's
 * signature; whether the body matches the header; the signatures in the body. Each step starts after the previous one:
 * a valid header is a member's, so only members can make this node verify bodies, each vertex once if that is quick. If
 * it is slow, the sender may be delaying it with slow work of its own: then other peers' copies are judged as well,
 * each in its sender's turn.
 */
import { Either } from "effect"
import { KNOWN, type Use } from "../../consensus/Core.js"
import * as Validity from "../../consensus/dag/Validity.js"
import type { Offence } from "../../network/Conduct.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import type { Check } from "../../protocol/transaction/Verification.js"
import * as Header from "../../protocol/vertex/Header.js"
import * as Vertex from "../../protocol/vertex/Vertex.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Replica } from "../../replica/Replica.js"
import type { Owner } from "./FairQueue.js"
import type { SignatureThreads } from "./SignatureThreads.js"
import type { Turns } from "./Turns.js"

export type Finding =
  | { readonly _tag: "Refused"; readonly what: string; readonly offence: Offence }
  | {
      readonly _tag: "Sound"
      /** Useful vertices and, in an answer of whole rounds, those already here. */
      readonly vertices: ReadonlyArray<Vertex.Vertex>
      readonly headersOnly: ReadonlyArray<Header.Header>
      /** The other epoch that one of them belongs to. */
      readonly elsewhere: Epoch | null
      /** Call once they are taken in. */
      readonly done: () => void
    }

export interface Arrival {
  readonly from: PeerId
  readonly owner: Owner
  readonly vertices: ReadonlyArray<Vertex.Encoded>
  /** Whether this node asked for one of these. A non-member may push only its own vertices. */
  readonly isAnswer: (hashes: ReadonlyArray<Hash>) => boolean
  /** An answer of whole rounds, whose known vertices are needed to continue from there. */
  readonly isRounds: boolean
  /** Runs a step of the judging; an exception ends this message. */
  readonly hold: (judge: () => void) => void
  /** Judging will take long through no fault of the sender: later messages of the peer need not wait. */
  readonly stepAside: () => void
  readonly conclude: (finding: Finding) => void
}

interface Said extends Arrival {
  readonly isAsked: boolean
}

export interface Surroundings {
  readonly replica: Pick<Replica, "core" | "validatorOf">
  readonly networkId: NetworkId
  readonly signatures: Pick<SignatureThreads, "check" | "checkByZip215" | "verified">
  readonly turns: Turns
}

interface Candidate {
  readonly header: Header.Header
  readonly encoded: Uint8Array
  /** In the DAG, or below it: needs no verification. */
  readonly isHere: boolean
}

interface Sorted {
  readonly candidates: ReadonlyArray<Candidate>
  readonly headersOnly: ReadonlyArray<Header.Header>
  readonly elsewhere: Epoch | null
}

/** The checks of one vertex's body, a part of the whole message. */
interface Part {
  readonly vertex: Vertex.Vertex
  readonly checks: ReadonlyArray<Check>
}

/**
 * Limit per vertex of signatures that only the slow rule accepts. No node of this program puts one into its own vertex,
 * since its strict check rejects them. A vertex with more is valid, but its author could delay every node: shown to a
 * single member that names it, it would keep all others waiting while they judge it. So no node of this program is the
 * first to name it: it is judged once the network builds on it.
 */
export const SLOW_SIGNATURES = 64
/** Limit of remembered vertices, by hash; the oldest are forgotten. */
const REMEMBERED = 1_024
/** While a copy has been in progress for less than this, unrequested copies wait for its result. */
const SOON_MS = 250

interface Doubtful {
  readonly part: Part
  readonly doubted: ReadonlyArray<Check>
}

class Remembered {
  readonly #hashes = new Set<Hash>()

  has(hash: Hash): boolean {
    return this.#hashes.has(hash)
  }

  add(hash: Hash): void {
    this.#hashes.add(hash)
    for (const oldest of this.#hashes) {
      if (this.#hashes.size <= REMEMBERED) return
      this.#hashes.delete(oldest)
    }
  }
}

const invalid = (what: string): Finding => ({ _tag: "Refused", what, offence: "invalid" })

const badHeader = invalid("a vertex with an invalid signature")
const badBody = invalid("a vertex that contains an invalid signature")

export class VertexInspection {
  readonly #around: Surroundings
  /** Vertices with valid headers whose rest is being verified: the start time for each peer that sent one. */
  readonly #underWay = new Map<Hash, Map<PeerId, number>>()
  /** Those waiting for their author's turn under the slow rule: another copy would not have it sooner. */
  readonly #inDoubt = new Set<Hash>()
  readonly #refused = new Remembered()
  /** Vertices set aside for having too many slow signatures while nothing builds on them. */
  readonly #leftAside = new Remembered()

  constructor(surroundings: Surroundings) {
    this.#around = surroundings
  }

  judge(arrival: Arrival): void {
    const headers: Array<Header.Header> = []
    for (const { encoded } of arrival.vertices) {
      const decoded = Vertex.decodeHeader(encoded)
      if (Either.isLeft(decoded)) {
        arrival.conclude({ _tag: "Refused", what: decoded.left.message, offence: "malformed" })
        return
      }
      headers.push(decoded.right)
    }
    const isAsked = arrival.isAnswer(headers.map(({ hash }) => hash))
    this.#judgeDecoded({ ...arrival, isAsked }, headers)
  }

  #judgeDecoded(said: Said, decoded: ReadonlyArray<Header.Header>): void {
    const sorted = this.#sort(said, decoded)
    if ("_tag" in sorted) {
      said.conclude(sorted)
      return
    }
    const headers = sorted.candidates.filter(({ isHere }) => !isHere).map(({ header }) => header)
    this.#judgeHeaders(said, [...headers, ...sorted.headersOnly], () => this.#open(said, sorted, 0, []))
  }

  #sort(said: Said, headers: ReadonlyArray<Header.Header>): Sorted | Finding {
    const { from, owner, isAsked, isRounds } = said
    const author = this.#around.replica.validatorOf(from)
    const candidates: Array<Candidate> = []
    const headersOnly: Array<Header.Header> = []
    let elsewhere: Epoch | null = null
    for (const [i, { encoded }] of said.vertices.entries()) {
      const header = headers[i]
      if (header === undefined) continue
      // Vertices are not relayed: authors push them, and they are fetched from peers that name them.
      if (!isAsked && owner.standing !== "member" && header.author !== author) continue
      const use = this.#useOf(header, said)
      if (use === "refused") return badBody
      switch (use._tag) {
        case "Wanted":
          candidates.push({ header, encoded, isHere: false })
          break
        case "Known":
          if (isRounds && this.#isHere(header)) candidates.push({ header, encoded, isHere: true })
          break
        case "HeaderOnly":
          headersOnly.push(header)
          if (isRounds && this.#isHere(header)) candidates.push({ header, encoded, isHere: true })
          break
        case "Elsewhere":
          elsewhere = use.epoch
          break
        case "Invalid":
          return invalid(use.error._tag)
      }
    }
    return { candidates, headersOnly, elsewhere }
  }

  #useOf(header: Header.Header, said: Said): Use | "refused" {
    const { core } = this.#around.replica
    if (this.#refused.has(header.hash)) return "refused"
    if (this.#leftAside.has(header.hash) && !core.isBuiltOn(header)) return KNOWN
    return this.#isUnderWay(header.hash, said) ? KNOWN : core.useOf(header)
  }

  /** Whether this copy can be skipped: its sender's previous copy, or one that will soon be done, is in progress. */
  #isUnderWay(hash: Hash, { from, isAsked }: Said): boolean {
    const copies = this.#underWay.get(hash)
    if (copies === undefined) return false
    if (copies.has(from) || this.#inDoubt.has(hash)) return true
    const now = performance.now()
    return !isAsked && [...copies.values()].some((since) => now - since < SOON_MS)
  }

  #begin(hash: Hash, from: PeerId): void {
    const copies = this.#underWay.get(hash) ?? new Map<PeerId, number>()
    this.#underWay.set(hash, copies.set(from, performance.now()))
  }

  #end(hash: Hash, from: PeerId): void {
    const copies = this.#underWay.get(hash)
    copies?.delete(from)
    if (copies?.size === 0) this.#underWay.delete(hash)
  }

  /**
   * A vertex that only waits for its parents may be forgotten before this one, which must not enter unverified then.
   */
  #isHere({ hash, round }: Header.Header): boolean {
    const { dag } = this.#around.replica.core.epoch
    return round <= dag.collectedRound || dag.has(hash)
  }

  #judgeHeaders(said: Said, headers: ReadonlyArray<Header.Header>, then: () => void): void {
    const { owner, hold, conclude } = said
    const author = this.#around.replica.validatorOf(said.from)
    this.#verify(said, headers.map(Header.check), owner.standing === "member", (refused) =>
      hold(() => {
        if (refused.length === 0) then()
        // The slow rule applies only to answers to this node and to members; for all others the native rejection is
        // final.
        else if (!said.isAsked && owner.standing !== "member" && author === null) conclude(badHeader)
        else {
          const judged = (holds: boolean): void => (holds ? then() : conclude(badHeader))
          this.#judgeSlowly(refused, owner.peer, (holds) => hold(() => judged(holds)))
        }
      }),
    )
  }

  /** Opens one body per turn: a page of them would hold the thread for long. */
  #open(said: Said, sorted: Sorted, at: number, parts: Array<Part>): void {
    const { owner, isRounds, hold, conclude } = said
    const candidate = sorted.candidates[at]
    if (candidate === undefined) {
      this.#judgeBodies(said, sorted, parts)
      return
    }
    this.#around.turns.goOn(owner, () =>
      hold(() => {
        // Another copy may have been faster.
        const use = isRounds ? null : this.#useOf(candidate.header, said)
        if (use !== null && (use === "refused" || use._tag !== "Wanted")) {
          this.#open(said, sorted, at + 1, parts)
          return
        }
        const { networkId, signatures } = this.#around
        // A copy: a vertex must not keep its message alive.
        const opened = Vertex.open(networkId, candidate.header, candidate.encoded.slice())
        if (Either.isLeft(opened)) {
          conclude({ _tag: "Refused", what: opened.left.message, offence: "malformed" })
          return
        }
        const vertex = opened.right
        const checks = candidate.isHere
          ? []
          : Validity.bodyChecks(networkId, vertex.body, (each) => signatures.verified.has(each))
        parts.push({ vertex, checks })
        this.#open(said, sorted, at + 1, parts)
      }),
    )
  }

  #judgeBodies(said: Said, { headersOnly, elsewhere }: Sorted, parts: ReadonlyArray<Part>): void {
    const { from, hold, conclude } = said
    const hashes = parts.map(({ vertex }) => vertex.header.hash)
    for (const hash of hashes) this.#begin(hash, from)
    const done = (): void => {
      for (const hash of hashes) this.#end(hash, from)
    }
    const accept = (leftAside: ReadonlySet<Part>): void => {
      const vertices = parts.filter((part) => !leftAside.has(part)).map(({ vertex }) => vertex)
      conclude({ _tag: "Sound", vertices, headersOnly, elsewhere, done })
    }
    const refuse = (guilty: ReadonlyArray<Part>): void => {
      done()
      for (const { vertex } of guilty) this.#refused.add(vertex.header.hash)
      conclude(badBody)
    }
    // A vertex that a bug left in progress forever would be accepted from no peer.
    const holdOrForget = (judge: () => void): void =>
      hold(() => {
        try {
          judge()
        } catch (error) {
          done()
          throw error
        }
      })
    const checks = parts.flatMap((part) => part.checks)
    this.#verify(said, checks, true, (refused) =>
      holdOrForget(() => {
        const refusedOnes = new Set(refused)
        const doubtful = parts
          .map((part) => ({ part, doubted: part.checks.filter((check) => refusedOnes.has(check)) }))
          .filter(({ doubted }) => doubted.length > 0)
        const leftAside = new Set(doubtful.filter((doubt) => this.#isLeftAside(doubt)).map(({ part }) => part))
        for (const { vertex } of leftAside) this.#leftAside.add(vertex.header.hash)
        const toJudge = doubtful.filter(({ part }) => !leftAside.has(part))
        this.#doubt({ ...said, hold: holdOrForget }, toJudge, () => accept(leftAside), refuse)
      }),
    )
  }

  /** ZIP-215 decides on signatures in a vertex; only the vertex's author waits for it. */
  #doubt(
    said: Said,
    doubtful: Array<Doubtful>,
    accept: () => void,
    refuse: (guilty: ReadonlyArray<Part>) => void,
  ): void {
    const next = doubtful.pop()
    if (next === undefined) {
      accept()
      return
    }
    const { part, doubted } = next
    const { hash, author } = part.vertex.header
    this.#inDoubt.add(hash)
    said.stepAside()
    this.#judgeSlowly(doubted, author, (holds) =>
      said.hold(() => {
        this.#inDoubt.delete(hash)
        if (holds) this.#doubt(said, doubtful, accept, refuse)
        else refuse([part])
      }),
    )
  }

  #isLeftAside({ part, doubted }: Doubtful): boolean {
    return doubted.length > SLOW_SIGNATURES && !this.#around.replica.core.isBuiltOn(part.vertex.header)
  }

  /** Judges by ZIP-215, in the turn of the peer that causes it. */
  #judgeSlowly(checks: ReadonlyArray<Check>, cause: string, then: (holds: boolean) => void): void {
    this.#around.signatures.checkByZip215(checks, then, { peer: cause, standing: "member" })
  }

  /** Passes on the checks that the native verifier refuses. */
  #verify(
    { owner }: Said,
    checks: ReadonlyArray<Check>,
    isUrgent: boolean,
    then: (refused: ReadonlyArray<Check>) => void,
  ): void {
    this.#around.signatures.check(checks, (results) => then(checks.filter((_, i) => results[i] !== 1)), {
      owner,
      isUrgent,
    })
  }
}
