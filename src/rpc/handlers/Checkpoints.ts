import { Effect, Either, Option } from "effect"
import { type AccountProof, Checkpoints, type Dated } from "../../node/reads/Checkpoints.js"
import type { TransactionProof } from "../../node/reads/Inclusion.js"
import type { NoAnswer } from "../../node/reads/Lookup.js"
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
import * as AccountReference from "./AccountReference.js"
import { group, type Of } from "./Group.js"
import * as Refused from "./Refused.js"
import * as SnakeCase from "./SnakeCase.js"

const epochOf = ({
  rules,
  members,
  ...epoch
}: EpochRecord): NonNullable<(typeof Api.Checkpoint.Type)["next_epoch"]> => ({
  ...SnakeCase.named(epoch),
  rules: SnakeCase.named(rules),
  members: members.map(({ address, publicKey, weight }) => ({ address, pub_key: publicKey, weight })),
})

const checkpointOf = ({ checkpoint, signatures }: SignedCheckpoint): typeof Api.Checkpoint.Type => ({
  ...SnakeCase.named(checkpoint),
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

const noPiece = (root: Hash.Hash) =>
  new Failure.CheckpointNotFound({
    message: `this node has no such piece of a state with root ${Hash.short(root)}: it has the closing states of the last two epochs`,
  })

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

type Found = Effect.Effect<Option.Option<SignedCheckpoint>, NoAnswer>

/** A source of checkpoints signed by a quorum. */
export interface Kept {
  readonly latest: Found
  readonly at: (round: Natural.Round) => Found
  readonly byHash: (hash: Hash.Hash) => Found
  readonly closing: (epoch: Natural.Epoch) => Found
  readonly before: (
    round: Natural.Round,
    limit: number,
    isClosing: boolean,
  ) => Effect.Effect<ReadonlyArray<Dated>, NoAnswer>
}

export const reads = (checkpoints: Kept) =>
  ({
    list: ({ urlParams: { limit = STANDARD_PAGE, before = NEWEST, closing } }) =>
      // One more than requested, to detect a further page.
      Effect.map(checkpoints.before(before, limit + 1, closing === "only"), (found) => ({
        checkpoints: found.slice(0, limit).map(summaryOf),
        next_round: found.length > limit ? (found[limit - 1]?.signed.checkpoint.round ?? null) : null,
      })),
    latest: () => Effect.flatMap(checkpoints.latest, foundOr(none)),
    checkpoint: ({ path: { round } }) => {
      const why = "a quorum signed none for that round, or it closed no epoch and was pruned"
      return Effect.flatMap(checkpoints.at(round), foundOr(absent(`of round ${round}`, why)))
    },
    byHash: ({ path: { hash } }) => {
      const why = "a quorum signed none with that hash, or it closed no epoch and was pruned"
      return Effect.flatMap(checkpoints.byHash(hash), foundOr(absent(Hash.short(hash), why)))
    },
    closing: ({ path: { epoch } }) => {
      const why = epoch === 0 ? "it follows from the genesis and is unsigned" : "the epoch has not closed yet"
      const missing = absent(`that closed epoch ${epoch}`, why)
      return Effect.flatMap(checkpoints.closing(epoch), foundOr(missing))
    },
  }) satisfies Partial<Of<"checkpoints">>

export const layer = group("checkpoints", (handlers) =>
  Effect.gen(function* () {
    const checkpoints = yield* Checkpoints
    const { networkId } = (yield* Home).genesis
    const state = yield* State
    const account = yield* AccountReference.resolver

    const { list, latest, checkpoint, byHash, closing } = reads(checkpoints)

    return handlers
      .handle("latest", latest)
      .handle("list", list)
      .handle("checkpoint", checkpoint)
      .handle("byHash", byHash)
      .handle("closing", closing)
      .handle("state", ({ path: { root, position } }) =>
        Effect.gen(function* () {
          if (checkpoints.isJoining()) return yield* Effect.fail(Refused.notReady)
          const piece = yield* checkpoints.statePiece(root, Buffer.from(position, "hex"))
          return Option.isNone(piece) ? yield* Effect.fail(noPiece(root)) : { state_root: root, piece: piece.value }
        }),
      )
      .handle("transactionProof", ({ path: { hash } }) =>
        Effect.gen(function* () {
          const known = yield* state.transaction(hash)
          if (known._tag === "Pending") return yield* Effect.fail(pending(hash))
          const { recorded } = known
          const proven = yield* Effect.catchTag(checkpoints.proveTransaction(recorded), "NoProof", ({ because }) =>
            Effect.fail(NO_PROOF[because](recorded.vertex.round)),
          )
          return transactionProofOf(networkId, hash, proven)
        }),
      )
      .handle("proof", ({ path }) =>
        Effect.gen(function* () {
          const address = yield* account("address", path.address)
          if (checkpoints.isJoining()) return yield* Effect.fail(Refused.notReady)
          const proven = yield* checkpoints.prove(address)
          return Option.isNone(proven) ? yield* Effect.fail(none) : proofOf(address, proven.value)
        }),
      )
  }),
)
