/**
 * Checkpoints from the archive. An archive that caught up has only those that close epochs, so a node is asked for
 * others that must exist. Made-up names cost the nodes next to nothing.
 */
import { Effect, Either } from "effect"
import type { Row } from "../archive/Postgres.js"
import { FalseAnswer } from "../client/wire/Failures.js"
import * as Answer from "../light/checks/Answer.js"
import { Unanswered } from "../node/reads/Lookup.js"
import { State } from "../node/reads/State.js"
import * as EpochRecord from "../protocol/epoch/EpochRecord.js"
import * as FirstEpoch from "../protocol/epoch/FirstEpoch.js"
import * as Signers from "../protocol/epoch/Signers.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Verification from "../protocol/transaction/Verification.js"
import type * as Api from "../rpc/api/Checkpoints.js"
import * as AccountReference from "../rpc/handlers/AccountReference.js"
import * as Checkpoints from "../rpc/handlers/Checkpoints.js"
import { group } from "../rpc/handlers/Group.js"
import { Archive } from "./Archive.js"
import * as Column from "./Column.js"
import * as FinalizedDag from "./FinalizedDag.js"
import { forwarded } from "./Forwarding.js"
import { Nodes, type Trouble } from "./Nodes.js"
import { PerSecond } from "./PerSecond.js"

export const COMMIT_OF = `select c.leader_round, b.leader_round, e.record
  from commits c join commits b on b.commit_index = c.commit_index - 1 left join epochs e on e.epoch = c.epoch
  where c.leader_round = $1`

/** The archive records epochs as they begin; the first one follows from the genesis. */
const isDue = (first: EpochRecord.EpochRecord, row: Row): boolean => {
  const bytes = Column.nullable(row, 2, Column.bytes)
  return EpochRecord.isCheckpointDue(
    bytes === null ? first : Either.getOrThrow(EpochRecord.decode(bytes)),
    Natural.round(Column.integer(row, 1)),
    Natural.round(Column.integer(row, 0)),
  )
}

/** Shared fairly among client networks: a hash does not show whether such a checkpoint exists. */
const HASHES_A_SECOND = 20

const tooMany = new Unanswered({
  message: "too many requests for checkpoints that the archive lacks; ask again in a second, or by round",
  retryAfterSeconds: 1,
})

export const layer = group("checkpoints", (handlers) =>
  Effect.gen(function* () {
    const [archive, nodes, { genesis }] = yield* Effect.all([Archive, Nodes, State])
    const account = yield* AccountReference.resolver
    const first = FirstEpoch.of(genesis)
    const known = Checkpoints.reads(yield* FinalizedDag.checkpoints)
    const hashes = new PerSecond(HASHES_A_SECOND, () => performance.now())
    const committeeOf = (epoch: Natural.Epoch) =>
      epoch === first.epoch
        ? Effect.succeed(first)
        : Effect.map(
            archive.read(({ rows }) => rows("select record from epochs where epoch = $1", [epoch])),
            ([row]) => (row === undefined ? undefined : Either.getOrThrow(EpochRecord.decode(Column.bytes(row, 0)))),
          )
    /** A node may have made it up: the content must have the hash and the signatures of a quorum. */
    const required = (asked: Effect.Effect<typeof Api.Checkpoint.Type, Trouble>) =>
      Effect.gen(function* () {
        const json = yield* asked
        const signed = Answer.signedOf("checkpoint", json)
        if (Either.isLeft(signed)) return yield* Effect.fail(new FalseAnswer(200, signed.left.message))
        const committee = yield* committeeOf(signed.right.checkpoint.epoch)
        if (committee === undefined || Signers.quorumOf(committee, signed.right, Verification.isValid) === undefined)
          return yield* Effect.fail(
            new FalseAnswer(200, `no quorum of epoch ${json.epoch} signed checkpoint ${json.hash}`),
          )
        return json
      })
    return (
      handlers
        .handle("latest", known.latest)
        .handle("list", known.list)
        .handle("closing", known.closing)
        .handle("checkpoint", (request) =>
          Effect.catchTag(known.checkpoint(request), "CheckpointNotFound", (absent) =>
            Effect.flatMap(
              archive.read(({ rows }) => rows(COMMIT_OF, [request.path.round])),
              ([row]) =>
                row === undefined || !isDue(first, row)
                  ? Effect.fail(absent)
                  : nodes
                      .ask(({ checkpoints }) => required(checkpoints.checkpoint({ path: request.path })))
                      .pipe(forwarded("CheckpointNotFound")),
            ),
          ),
        )
        .handle("byHash", (request) =>
          Effect.catchTag(known.byHash(request), "CheckpointNotFound", () =>
            hashes.take(request.client)
              ? nodes
                  .ask(({ checkpoints }) => required(checkpoints.byHash({ path: request.path })))
                  .pipe(forwarded("CheckpointNotFound"))
              : tooMany,
          ),
        )
        // The client checks it against the root.
        .handle("state", ({ path }) =>
          nodes
            .ask(({ checkpoints }) => checkpoints.state({ path }))
            .pipe(forwarded("InvalidRequest", "CheckpointNotFound", "NotReady")),
        )
        .handle("transactionProof", ({ path }) =>
          nodes
            .ask(({ checkpoints }) => checkpoints.transactionProof({ path }))
            .pipe(forwarded("TransactionNotFound", "CheckpointNotFound", "VertexNotFound")),
        )
        // Resolved here rather than by a node: an account's text in any form does not belong in a path.
        .handle("proof", ({ path }) =>
          Effect.flatMap(account("address", path.address), (address) =>
            nodes
              .ask(({ checkpoints }) => checkpoints.proof({ path: { address } }))
              .pipe(forwarded("CheckpointNotFound", "NotReady")),
          ),
        )
    )
  }),
)
