/**
 * Downloads a live network's state at the end of its last epoch over a node's HTTP interface. A genesis proves which
 * checkpoint that is, by the signatures of all committees since. Without one, only the checkpoint is trusted, whose
 * hash people can compare; each piece is checked against its root.
 */
import { Effect, Either, Schema } from "effect"
import { randomBytes } from "#crypto"
import * as Client from "../client/Client.js"
import * as HalfSipHash from "../ledger/tables/HalfSipHash.js"
import { Assembly } from "../ledger/trie/Assembly.js"
import * as Position from "../ledger/trie/Position.js"
import * as Check from "../light/Check.js"
import * as Answer from "../light/checks/Answer.js"
import { Malformed } from "../light/checks/Refusal.js"
import * as Trusted from "../light/checks/Trusted.js"
import type * as StateFork from "../node/offline/StateFork.js"
import * as Loading from "../node/start/Loading.js"
import * as Binary from "../protocol/encoding/Binary.js"
import { isClosing, type SignedCheckpoint, type SignedClosing } from "../protocol/epoch/Checkpoint.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Protocol from "../protocol/epoch/Protocol.js"
import { addressPrefix, type Mode } from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import { isStrictlyValid } from "../protocol/transaction/Verification.js"
import { refused } from "./ControlRefused.js"

/** Too large to keep in memory. A node could otherwise invent a state and send without end. */
const MOST_BYTES = 2 ** 30

/** A node serves a hundred pieces a minute to a client, and states the time until the next. */
const PATIENT: Client.Options = { retries: 20, longestWaitMs: 61_000 }

const asked = <A>(ask: () => Promise<A>) =>
  Effect.tryPromise({ try: ask, catch: (error) => refused(error instanceof Error ? error.message : String(error)) })

interface Claim {
  readonly signed: SignedClosing
}

interface Proven extends Claim, Check.Shown {}

const closingOf = ({ checkpoint, signatures }: SignedCheckpoint): Either.Either<Claim, Malformed> =>
  isClosing(checkpoint)
    ? Either.right({ signed: { checkpoint, signatures } })
    : Either.left(new Malformed({ what: "checkpoint", reason: "it closes no epoch" }))

/** The checkpoint that closed an epoch, signed by a quorum of its committee. */
const closing = (epoch: Natural.Epoch): Check.Subject<Claim, Proven> => ({
  question: { path: `/checkpoint/epoch/${epoch}`, limit: Answer.CHECKPOINT_BYTES },
  read: (bytes) => Either.flatMap(Answer.checkpoint(bytes), closingOf),
  follows: () => Either.void,
  prove: (trusted, { signed }) =>
    Either.map(Trusted.vouchersOf(trusted, signed, isStrictlyValid), () => ({
      signed,
      checkpoint: signed.checkpoint,
    })),
})

const trustIn = (genesis: Genesis.Genesis): Check.Trust => ({
  root: { _tag: "Committee", trusted: Trusted.ofGenesis(genesis) },
  prefix: addressPrefix(genesis.mode),
  networkId: genesis.networkId,
})

const trustTo = (pin: Check.Pin, mode: Mode): Check.Trust => ({
  root: { _tag: "Pin", pin },
  prefix: addressPrefix(mode),
  networkId: null,
})

/** Downloads missing pieces one after the other until the state is complete. */
const assembled = (client: Client.PromiseClient, { checkpoint: { stateRoot: root } }: SignedClosing) =>
  Effect.gen(function* () {
    const assembly = new Assembly(root)
    let bytes = 0
    for (;;) {
      const missing = assembly.missing().next().value
      if (missing === undefined) break
      const place = Binary.encode((writer) => Position.write(writer, missing.position))
      const position = Buffer.from(place).toString("hex")
      const { piece } = yield* asked(() => client.checkpoints.state({ path: { root, position } }))
      bytes += piece.length
      if (bytes > MOST_BYTES) return yield* refused(`its state has more than ${MOST_BYTES} bytes`)
      const accepted = assembly.accept(piece)
      if (Either.isLeft(accepted))
        return yield* refused(`its state is not that of the checkpoint: ${accepted.left.message}`)
    }
    if (assembly.trie === undefined) return yield* refused("its state has no records")
    return assembly.trie
  })

/** As of the last closed epoch. */
export const read = (url: string, known: Genesis.Genesis | undefined) =>
  Effect.gen(function* () {
    const client = yield* Effect.try({
      try: () => Client.connect(url, PATIENT),
      catch: (error) => refused(String(error)),
    })
    const { network_id, genesis_hash, mode, parameters } = yield* asked(() => client.core.network())
    if (known !== undefined && Genesis.hash(known) !== genesis_hash)
      return yield* refused(
        `it is a node of ${network_id} (${genesis_hash}), and the genesis is ${Genesis.hash(known)}`,
      )
    const { checkpoints } = yield* asked(() => client.checkpoints.list({ urlParams: { closing: "only", limit: 1 } }))
    const [last] = checkpoints
    if (last === undefined) return yield* refused("no epoch of its network has closed yet")
    const pin = { epoch: Natural.epoch(last.epoch), hash: last.hash }
    const trust = known === undefined ? trustTo(pin, mode) : trustIn(known)
    const { proven } = yield* Check.check(trust, [url], closing(pin.epoch))
    const target = proven.signed
    const told = known?.protocol ?? Protocol.fromJson(yield* Schema.decodeUnknown(Protocol.Json)(parameters))
    // Only proven rules count.
    const { epochRounds, collectionDepthRounds, roundReward, halvingRounds } = target.checkpoint.nextEpoch.rules
    const protocol = { ...told, epochRounds, collectionDepthRounds, roundReward, halvingRounds }
    const trie = yield* assembled(client, target)
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const ledger = yield* Loading.ledgerOf(protocol, tableKey, { target, trie })
    if (Either.isLeft(ledger)) return yield* refused(`its state is wrong: ${ledger.left}`)
    return {
      networkId: network_id,
      genesisHash: genesis_hash,
      mode,
      protocol,
      target,
      trie,
      ledger: ledger.right,
      isFromGenesis: known !== undefined,
    } satisfies StateFork.Original
  })
