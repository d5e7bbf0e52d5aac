/**
 * Proof that a transaction is in the total order: the vertex that contains it, headers from it up to the leader of a
 * commit, and the commits from there to the one under a checkpoint signed by a quorum. It does not say what the
 * transaction did.
 */
import { Data, Either } from "effect"
import type { Hash } from "../identity/Hash.js"
import type { NetworkId } from "../identity/Network.js"
import type { Transaction } from "../transaction/Transaction.js"
import * as Commit from "../vertex/Commit.js"
import * as Header from "../vertex/Header.js"
import * as Vertex from "../vertex/Vertex.js"
import type { EpochRecord } from "./EpochRecord.js"

/** A path has as many headers as there are rounds between a vertex and the leader that orders it, mostly one or two. */
export const MAX_HEADERS = 64

/** The maximum number of commits between two checkpoints. */
export const MAX_COMMITS = 10_001

export interface Inclusion {
  readonly vertex: Uint8Array
  /**
   * From the leader down, each a parent of the previous one, and the vertex a parent of the last; empty if it is the
   * leader.
   */
  readonly headers: ReadonlyArray<Uint8Array>
  /** The commit before the first of `commits`. */
  readonly previous: Hash
  /** The leader's commit and those that follow, up to the checkpoint's. */
  readonly commits: ReadonlyArray<Pick<Commit.Commit, "index" | "epoch" | "leaderRound" | "leaderHash">>
}

export interface Included {
  readonly transaction: Transaction
  readonly vertex: Header.Header
  /** The commit that orders the vertex, unless an earlier one did. */
  readonly commit: Commit.Commit
}

export class InvalidInclusion extends Data.TaggedError("InvalidInclusion")<{ readonly reason: string }> {
  override get message(): string {
    return `the proof of the transaction is invalid: ${this.reason}`
  }
}

const refuse = (reason: string) => Either.left(new InvalidInclusion({ reason }))

const headersOf = (encoded: ReadonlyArray<Uint8Array>) =>
  encoded.length > MAX_HEADERS
    ? refuse(`${encoded.length} headers, at most ${MAX_HEADERS}`)
    : Either.mapLeft(Either.all(encoded.map(Header.decode)), ({ reason }) => new InvalidInclusion({ reason }))

/** Whether each is a parent of the previous one. */
const isPath = (headers: ReadonlyArray<Header.Header>): boolean =>
  headers.every(({ hash }, i) => i === 0 || headers[i - 1]?.parents.some((parent) => parent.hash === hash) === true)

/** The commits with their hashes; undefined if their numbers have a gap. */
const chained = ({ previous, commits }: Inclusion): ReadonlyArray<Commit.Commit> | undefined => {
  const chain: Array<Commit.Commit> = []
  for (const commit of commits) {
    const before = chain.at(-1)
    if (before !== undefined && commit.index !== before.index + 1) return undefined
    chain.push(Commit.make({ ...commit, previous: before?.hash ?? previous }))
  }
  return chain
}

export interface Under {
  readonly epoch: number
  readonly commitIndex: number
  readonly commitHash: Hash
}

/**
 * The transaction and its place, if the checkpoint's commit follows from the leader's, and the vertex is in the
 * leader's history. Whether the commit orders all of that history depends on the epoch: see `isOrdered`.
 */
export const verify = (
  networkId: NetworkId,
  id: Hash,
  under: Under,
  inclusion: Inclusion,
): Either.Either<Included, InvalidInclusion> =>
  Either.gen(function* () {
    if (inclusion.commits.length > MAX_COMMITS) {
      return yield* refuse(`${inclusion.commits.length} commits, at most ${MAX_COMMITS}`)
    }
    const chain = chained(inclusion)
    const [commit, last] = [chain?.[0], chain?.at(-1)]
    if (commit === undefined || last === undefined) return yield* refuse("commits that do not follow each other")
    if (last.hash !== under.commitHash || last.index !== under.commitIndex) {
      return yield* refuse("its commits do not lead to that of the checkpoint")
    }
    if (commit.epoch !== under.epoch) return yield* refuse("a commit of another epoch than the checkpoint")
    const headers = yield* headersOf(inclusion.headers)
    const vertex = yield* Either.mapLeft(
      Vertex.decode(networkId, inclusion.vertex),
      ({ reason }) => new InvalidInclusion({ reason }),
    )
    const path = [...headers, vertex.header]
    if (path[0]?.hash !== commit.leaderHash) return yield* refuse("its path does not begin with the leader")
    if (!isPath(path)) return yield* refuse("a header that is no parent of the one before it")
    const transaction = vertex.body.transactions.find((one) => one.id === id)
    if (transaction === undefined) return yield* refuse("the vertex does not contain the transaction")
    return { transaction, vertex: vertex.header, commit }
  })

/**
 * Whether this or an earlier commit orders the vertex: a commit orders its leader's history above the collection depth,
 * counted from the previous leader, which has a lower round.
 */
export const isOrdered = ({ vertex, commit }: Included, { rules, epoch }: EpochRecord): boolean =>
  commit.epoch === epoch && vertex.epoch === epoch && vertex.round > commit.leaderRound - rules.collectionDepthRounds
