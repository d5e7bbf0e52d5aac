/**
 * Decodes a node's answers into records of the protocol. Checks only their form, as strictly as for messages between
 * nodes: a checkpoint is encoded and read again, so that the same rules apply and its hash is computed, not trusted.
 */
import { Either } from "effect"
import * as JsonDecoder from "../../protocol/encoding/Json.js"
import * as JsonProblem from "../../protocol/encoding/JsonProblem.js"
import * as JsonText from "../../protocol/encoding/JsonText.js"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import { type Inclusion, MAX_COMMITS, MAX_HEADERS } from "../../protocol/epoch/Inclusion.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { StateProof } from "../../protocol/state/StateProof.js"
import * as StateTree from "../../protocol/state/StateTree.js"
import * as Header from "../../protocol/vertex/Header.js"
import * as Api from "../../rpc/api/Checkpoints.js"
import { Malformed } from "./Refusal.js"

/** An account with its proof, as claimed by a node. */
export interface AccountClaim {
  readonly address: Address
  readonly key: Hash
  /** In hex; null if the node claims that there is no record. */
  readonly record: string | null
  readonly proof: StateProof
  readonly signed: Checkpoint.SignedCheckpoint
}

/** A transaction with its proof, as claimed by a node. */
export interface TransactionClaim {
  readonly hash: Hash
  readonly networkId: NetworkId
  readonly inclusion: Inclusion
  readonly signed: Checkpoint.SignedCheckpoint
}

/** The longest JSON of each part: its digits, and at most 200 bytes for names, punctuation and numbers around them. */
const AROUND = 200
const MEMBER_BYTES = 40 + 64 + AROUND
const SIGNATURE_BYTES = 40 + 128 + AROUND
const SIBLING_BYTES = 64 + AROUND
const ENTRY_BYTES = 64 + 2 * StateTree.VALUE_BYTES + AROUND

/** The maximum size of a checkpoint as JSON. */
export const CHECKPOINT_BYTES = 4_096 + Limits.COMMITTEE_MEMBERS * (MEMBER_BYTES + SIGNATURE_BYTES)

/** The maximum size of an account with its proof and checkpoint as JSON. */
export const ACCOUNT_BYTES =
  CHECKPOINT_BYTES +
  StateTree.MAX_DEPTH * SIBLING_BYTES +
  // The leaf's records, and the account's own record a second time.
  (StateTree.LEAF_RECORDS + 1) * ENTRY_BYTES

/** The maximum size of a transaction with its proof and checkpoint as JSON. */
export const TRANSACTION_BYTES =
  CHECKPOINT_BYTES +
  2 * Limits.VERTEX_BYTES +
  MAX_HEADERS * (2 * Header.MAX_BYTES + AROUND) +
  MAX_COMMITS * (64 + AROUND)

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (what: string, bytes: Uint8Array): Either.Either<string, Malformed> =>
  Either.try({ try: () => utf8.decode(bytes), catch: () => new Malformed({ what, reason: "it is not UTF-8" }) })

/** Ignores fields that later versions add. */
const decodeCheckpoint = JsonDecoder.decoder(Api.Checkpoint, "checkpoint", "ignore")
const decodeTransaction = JsonDecoder.decoder(Api.TransactionProof, "transaction", "ignore")
const decodeProof = JsonDecoder.decoder(Api.Proof, "account", "ignore")

const read = <A>(
  what: string,
  decode: (input: unknown) => Either.Either<A, JsonProblem.JsonProblem>,
  bytes: Uint8Array,
): Either.Either<A, Malformed> =>
  Either.flatMap(textOf(what, bytes), (text) =>
    Either.mapLeft(
      Either.flatMap(JsonText.parse(text, what), decode),
      (problem) => new Malformed({ what, reason: JsonProblem.message(problem) }),
    ),
  )

type CheckpointJson = typeof Api.Checkpoint.Type

const recordOf = ({
  epoch,
  first_round,
  seed,
  rules,
  members,
}: NonNullable<CheckpointJson["next_epoch"]>): EpochRecord.EpochRecord => ({
  epoch: Natural.epoch(epoch),
  firstRound: first_round,
  seed,
  rules: {
    epochRounds: rules.epoch_rounds,
    protocolVersion: rules.protocol_version,
    collectionDepthRounds: rules.collection_depth_rounds,
    checkpointIntervalRounds: rules.checkpoint_interval_rounds,
    roundReward: rules.round_reward,
    halvingRounds: rules.halving_rounds,
    treasuryPercent: rules.treasury_percent,
    councilPercent: rules.council_percent,
  },
  members: members.map(({ address, pub_key, weight }) => ({ address, publicKey: pub_key, weight })),
})

const sizes = (what: string, { next_epoch, signatures }: CheckpointJson): Either.Either<void, Malformed> => {
  const longest = Math.max(signatures.length, next_epoch?.members.length ?? 0)
  const reason = `a list of ${longest}, but at most ${Limits.COMMITTEE_MEMBERS} are allowed`
  return longest > Limits.COMMITTEE_MEMBERS ? Either.left(new Malformed({ what, reason })) : Either.void
}

/** A checkpoint with its signatures as a record, if its hash matches its content. */
export const signedOf = (what: string, json: CheckpointJson): Either.Either<Checkpoint.SignedCheckpoint, Malformed> =>
  Either.gen(function* () {
    yield* sizes(what, json)
    const content = {
      epoch: Natural.epoch(json.epoch),
      round: json.round,
      commitIndex: Natural.commitIndex(json.commit_index),
      commitHash: json.commit_hash,
      effectsDigest: json.effects_digest,
      stateRoot: json.state_root,
      totalSupply: json.total_supply,
      nextEpoch: json.next_epoch && recordOf(json.next_epoch),
      previous: json.previous,
    }
    if (content.nextEpoch !== null && !EpochRecord.areEncodable(content.nextEpoch.rules))
      return yield* Either.left(new Malformed({ what, reason: "rules that no epoch can have" }))
    const encoded = Checkpoint.encodeSigned({
      checkpoint: { ...content, hash: json.hash },
      signatures: json.signatures,
    })
    const malformed = (reason: string) => new Malformed({ what, reason })
    const signed = yield* Either.mapLeft(Checkpoint.decodeSigned(encoded), ({ reason }) => malformed(reason))
    if (signed.checkpoint.hash !== json.hash) return yield* Either.left(malformed("hash: does not match the content"))
    const named = json.next_epoch?.members ?? []
    const isNamed =
      signed.checkpoint.nextEpoch?.members.every(({ address }, i) => address === named[i]?.address) ?? true
    return isNamed ? signed : yield* Either.left(malformed("next_epoch.members: an address does not match its key"))
  })

export const checkpoint = (bytes: Uint8Array): Either.Either<Checkpoint.SignedCheckpoint, Malformed> =>
  Either.flatMap(read("checkpoint", decodeCheckpoint, bytes), (json) => signedOf("checkpoint", json))

export const transaction = (bytes: Uint8Array): Either.Either<TransactionClaim, Malformed> =>
  Either.gen(function* () {
    const json = yield* read("transaction", decodeTransaction, bytes)
    const { hash, network_id: networkId, vertex, headers, previous, checkpoint } = json
    const commits = json.commits.map(({ index, epoch, leader_round, leader_hash }) => ({
      index,
      epoch,
      leaderRound: leader_round,
      leaderHash: leader_hash,
    }))
    const signed = yield* signedOf("checkpoint", checkpoint)
    return { hash, networkId, inclusion: { vertex, headers, previous, commits }, signed }
  })

export const account = (bytes: Uint8Array): Either.Either<AccountClaim, Malformed> =>
  Either.gen(function* () {
    const { address, key, record, proof, checkpoint } = yield* read("account", decodeProof, bytes)
    return { address, key, record, proof, signed: yield* signedOf("checkpoint", checkpoint) }
  })
