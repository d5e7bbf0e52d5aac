/** Finds the proof that a transaction is in the total order. */
import { Data, Effect, Option } from "effect"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import * as Inclusion from "../../protocol/epoch/Inclusion.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Header from "../../protocol/vertex/Header.js"
import type { Storage } from "../../storage/Storage.js"
import type { CommitRecord } from "../../storage/tables/Commits.js"
import * as Lookup from "./Lookup.js"

export interface TransactionProof {
  readonly inclusion: Inclusion.Inclusion
  readonly signed: SignedCheckpoint
}

export class NoProof extends Data.TaggedError("NoProof")<{
  readonly because: "not signed yet" | "pruned" | "too far from its leader"
}> {}

const orNone = <A>(found: Option.Option<A>, because: NoProof["because"]) =>
  Option.match(found, { onNone: () => Effect.fail(new NoProof({ because })), onSome: Effect.succeed })

/** A header, and its child on the way up to the leader. */
interface Step {
  readonly header: Header.Header
  readonly below: Hash
  readonly height: number
}

type Place = Pick<Header.Header, "hash" | "round">

/** The shortest path down from the leader, searched round by round upwards from the vertex, which is close below. */
const pathOf = (storage: typeof Storage.Service, vertex: Place, leader: Place) =>
  Effect.gen(function* () {
    if (leader.round - vertex.round > Inclusion.MAX_HEADERS)
      return yield* new NoProof({ because: "too far from its leader" })
    const steps = new Map<Hash, Step>()
    const heightOf = (hash: Hash): number | undefined => (hash === vertex.hash ? 0 : steps.get(hash)?.height)
    for (let round = vertex.round + 1; round <= leader.round; round++) {
      for (const { bytes } of yield* storage.vertices.headsAt(Natural.round(round))) {
        const { header } = yield* Lookup.head(bytes)
        const below = header.parents
          .flatMap(({ hash }) => {
            const height = heightOf(hash)
            return height === undefined ? [] : [{ hash, height }]
          })
          .sort((a, b) => a.height - b.height)[0]
        if (below !== undefined) steps.set(header.hash, { header, below: below.hash, height: below.height + 1 })
      }
      yield* Effect.yieldNow()
    }
    const path: Array<Header.Header> = []
    for (let at = leader.hash; at !== vertex.hash; ) {
      const step = yield* orNone(Option.fromNullable(steps.get(at)), "pruned")
      path.push(step.header)
      at = step.below
    }
    return path
  })

const leaderOf = ({ leaderHash, leaderRound }: CommitRecord): Place => ({ hash: leaderHash, round: leaderRound })

/** The proof for a transaction in the vertex that this commit ordered. */
export const of = (storage: typeof Storage.Service, vertex: Place, index: Natural.CommitIndex) =>
  Effect.gen(function* () {
    const commit = yield* Effect.flatMap(storage.commits.at(index), (found) => orNone(found, "pruned"))
    const signed = yield* Effect.flatMap(storage.checkpoints.firstSince(commit.leaderRound), (found) =>
      orNone(found, "not signed yet"),
    )
    const { checkpoint } = signed
    const stored = yield* Effect.flatMap(storage.vertices.byHash(vertex.hash), (found) => orNone(found, "pruned"))
    const commits = yield* storage.commits.from(index, checkpoint.commitIndex - index + 1)
    if (commits.length <= checkpoint.commitIndex - index) return yield* new NoProof({ because: "pruned" })
    const headers = yield* pathOf(storage, vertex, leaderOf(commit))
    const proof: TransactionProof = {
      signed,
      inclusion: {
        vertex: stored.bytes,
        headers: headers.map(Header.encode),
        previous: commit.previous,
        commits,
      },
    }
    return proof
  })
