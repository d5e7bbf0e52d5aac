import { Effect, Either, Option } from "effect"
import { type AccountProof, Checkpoints, type Dated } from "../../node/reads/Checkpoints.js"
import type { TransactionProof } from "../../node/reads/Inclusion.js"
import { State } from "../../node/reads/State.js"
import { Home } from "../../node/start/Home.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import * as Inclusion from "../../protocol/epoch/Inclusion.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type * as Api from "../api/Checkpoints.js"
import * as Failure from "../api/Failure.js"
import * as Answer from "../server/Answer.js"
import type * as Handlers from "../server/Handlers.js"
import * as AccountReference from "./AccountReference.js"
import * as Refused from "./Refused.js"
import * as Transactions from "./Transactions.js"
import * as Unreadable from "./Unreadable.js"
import * as Wire from "./Wire.js"

const epochOf = ({
  rules,
  members,
  ...epoch
}: EpochRecord): NonNullable<(typeof Api.Checkpoint.Type)["next_epoch"]> => ({
  ...Wire.named(epoch),
  rules: Wire.named(rules),
  members: members.map(({ address, publicKey, weight }) => ({ address, pub_key: publicKey, weight })),
})

const checkpointOf = ({ checkpoint, signatures }: SignedCheckpoint): typeof Api.Checkpoint.Type => ({
  ...Wire.named(checkpoint),
  next_epoch: checkpoint.nextEpoch && epochOf(checkpoint.nextEpoch),
  signatures,
})

const proofOf = (address: Address, { key, record, proof, signed }: AccountProof): typeof Api.Proof.Type => ({
  address,
  key,
  record: Option.getOrNull(Option.map(record, (bytes) => Buffer.from(bytes).toString("hex"))),
  proof,
  checkpoint: checkpointOf(signed),
})

const NO_PROOF = {
  "not signed yet": (round: number) =>
    new Failure.CheckpointNotFound({
      message: `no checkpoint of round ${round} or later is signed by a quorum yet; try again later`,
    }),
  pruned: (round: number) =>
    new Failure.VertexNotFound({
      message: `vertices of round ${round} or the commits after it are pruned on this node`,
    }),
  "too far from its leader": (round: number) =>
    new Failure.VertexNotFound({
      message: `the vertex of round ${round} is more than ${Inclusion.MAX_HEADERS} rounds below its leader; no proof goes that far`,
    }),
} as const

const transactionProofOf = (
  networkId: NetworkId,
  hash: Hash.Hash,
  { inclusion: { vertex, headers, previous, commits }, signed }: TransactionProof,
): typeof Api.TransactionProof.Type => ({
  hash,
  network_id: networkId,
  vertex,
  headers,
  previous,
  commits: commits.map(({ index, epoch, leaderRound, leaderHash }) => ({
    index,
    epoch,
    leader_round: leaderRound,
    leader_hash: leaderHash,
  })),
  checkpoint: checkpointOf(signed),
})

const pending = (hash: Hash.Hash) =>
  new Failure.TransactionNotFound({
    message: `transaction ${Hash.short(hash)} is pending; only a finalized one has a proof`,
  })

/** Those that close epochs are kept forever. */
const absent = (which: string, why: string) =>
  new Failure.CheckpointNotFound({ message: `this node has no checkpoint ${which}: ${why}` })

const none = new Failure.CheckpointNotFound({ message: "no checkpoint is signed by a quorum yet; try again later" })

const foundOr = (absent: Failure.CheckpointNotFound) => (found: Option.Option<SignedCheckpoint>) =>
  Either.fromOption(Option.map(found, checkpointOf), () => absent)

const STANDARD_PAGE = 50
const NEWEST = Natural.round(Number.MAX_SAFE_INTEGER)

const summaryOf = ({
  signed: { checkpoint, signatures },
  time,
}: Dated): (typeof Api.Checkpoints.Type)["checkpoints"][number] => ({
  epoch: checkpoint.epoch,
  round: checkpoint.round,
  commit_index: checkpoint.commitIndex,
  hash: checkpoint.hash,
  closes_epoch: checkpoint.nextEpoch !== null,
  members: checkpoint.nextEpoch?.members.length ?? null,
  total_supply: checkpoint.totalSupply,
  signatures: signatures.length,
  timestamp: time,
})

/** Checkpoints that a quorum signed, wherever they are kept. */
export const reads = (
  checkpoints: Pick<typeof Checkpoints.Service, "latest" | "at" | "byHash" | "closing" | "before">,
) =>
  ({
    list: ({ query: { limit = STANDARD_PAGE, before = NEWEST, closing } }) =>
      // One more than requested, to see whether there are more.
      Effect.map(checkpoints.before(before, limit + 1, closing === "only"), (found) => ({
        checkpoints: found.slice(0, limit).map(summaryOf),
        next_round: found.length > limit ? (found[limit - 1]?.signed.checkpoint.round ?? null) : null,
      })).pipe(Unreadable.asDefect),
    latest: () => Effect.flatMap(checkpoints.latest, foundOr(none)).pipe(Unreadable.asDefect),
    checkpoint: ({ path: { round } }) => {
      const why = "no commit of that round made one that a quorum signed, or it closed no epoch and was pruned"
      return Effect.flatMap(checkpoints.at(round), foundOr(absent(`of round ${round}`, why))).pipe(Unreadable.asDefect)
    },
    byHash: ({ path: { hash } }) => {
      const why = "a quorum signed none with that hash, or it closed no epoch and was pruned"
      return Effect.flatMap(checkpoints.byHash(hash), foundOr(absent(Hash.short(hash), why))).pipe(Unreadable.asDefect)
    },
    closing: ({ path: { epoch } }) => {
      const why = epoch === 0 ? "it follows from the genesis, and nobody signs it" : "the epoch has not closed yet"
      const missing = absent(`that closed epoch ${epoch}`, why)
      return Effect.flatMap(checkpoints.closing(epoch), foundOr(missing)).pipe(Unreadable.asDefect)
    },
  }) satisfies Partial<Handlers.Of<"checkpoints">>

export const handlers = Effect.gen(function* () {
  const checkpoints = yield* Checkpoints
  const { networkId } = (yield* Home).genesis
  const state = yield* State
  const account = yield* AccountReference.resolver

  return {
    ...reads(checkpoints),
    transactionProof: ({ path: { hash } }) =>
      Effect.gen(function* () {
        const known = yield* Effect.catchTag(state.transaction(hash), "TransactionNotFound", (error) =>
          Effect.fail(Transactions.notFound(error)),
        )
        if (known._tag === "Pending") return yield* Effect.fail(pending(hash))
        const { recorded } = known
        const proven = yield* Effect.catchTag(checkpoints.proveTransaction(recorded), "NoProof", ({ because }) =>
          Effect.fail(NO_PROOF[because](recorded.vertex.round)),
        )
        // Later vertices and signatures do not change it.
        return Answer.forever(transactionProofOf(networkId, hash, proven))
      }).pipe(Unreadable.asDefect),
    proof: ({ path }) =>
      Effect.gen(function* () {
        const address = yield* account("address", path.address)
        if (checkpoints.isJoining()) return yield* Effect.fail(Refused.notReady)
        const proven = yield* checkpoints.prove(address)
        return Option.isNone(proven) ? yield* Effect.fail(none) : proofOf(address, proven.value)
      }),
  } satisfies Handlers.Of<"checkpoints">
})
