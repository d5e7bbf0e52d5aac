/** The connection to a signer that holds this node's validator key. The node starts once it knows the key. */
import type { FileSystem } from "@effect/platform"
import { Duration, Effect, Either, Option, Runtime, Schedule, type Scope } from "effect"
import type { Prover } from "../../network/Hello.js"
import * as PeerAddress from "../../network/PeerAddress.js"
import { nodeClock } from "../../network/tls/NodeClock.js"
import * as Address from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type * as Keys from "../../protocol/identity/Keys.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import { Connection, type Refusal, type State } from "../../signer/Connection.js"
import type { Place } from "../../signer/Statement.js"
import * as SignerKeysFile from "../../storage/files/SignerKeysFile.js"
import * as Log from "../log/Log.js"

const log = Log.for("validator")

export interface Target {
  readonly host: string
  readonly port: number
  readonly key: PeerId
}

export interface RemoteSigner {
  /** The key in use. */
  readonly publicKey: Keys.PublicKey
  /** All keys with which the signer signs for this node. */
  readonly publicKeys: () => ReadonlyArray<Keys.PublicKey>
  /** Whether the signer has named its keys since the start. */
  readonly hasAnswered: () => boolean
  /** The key to restart with once the signer has answered, if the node started without it with another key. */
  readonly toRestartWith: Effect.Effect<Option.Option<Keys.PublicKey>>
  /** Why the signer does not answer; null while it does. */
  readonly absence: () => string | null
  readonly waiting: () => number
  /** How long it has been away or has left a statement unanswered. */
  readonly quietMs: () => number
  /** Why the signer refuses what it has been asked last, in its own words. */
  readonly refusal: () => Refusal | null
  /** Tells the signer where the key is known to have signed a vertex. */
  readonly tell: (place: Place) => void
  /** The signature, or why the signer refuses, however long it takes. */
  readonly sign: (bytes: Uint8Array) => Promise<Either.Either<Keys.Signature, string>>
}

/** A signer at hand answers within this time. A node that knows its keys waits no longer. */
const ANSWERS_WITHIN_MS = 1_000

/** A full disk can have room again. */
const SAVE_EVERY = Duration.seconds(10)

/** Logs changes, and a signer that stays away only once. */
const telling = ({ host, port }: Target, knowsKeys: () => boolean) => {
  const told = (state: State) => {
    if (state._tag === "Ready") return log.info("the signer is connected", { keys: state.publicKeys.join() })
    const waits = knowsKeys() ? "follows without signing until it answers" : "starts once it answers"
    return log.warn(`no signer: this node ${waits}`, { signer: PeerAddress.hostPort(host, port), reason: state.reason })
  }
  let last = ""
  return (state: State): Effect.Effect<void> => {
    const now = state._tag === "Ready" ? "ready" : state.reason
    if (now === last) return Effect.void
    last = now
    return told(state)
  }
}

/** In whatever order: the signer names them as its files are named. */
const isSame = (some: ReadonlyArray<Keys.PublicKey>, others: ReadonlyArray<Keys.PublicKey>): boolean =>
  some.toSorted().join() === others.toSorted().join()

const keysOfLastRun = (file: string, { key }: Target) =>
  Effect.catchAll(SignerKeysFile.load(file, key), (reason) =>
    Effect.as(log.warn("the signer's keys of the last run are ignored", { file, reason }), []),
  )

/**
 * Waits until the signer has named its keys, which are of one validator, and uses the one in force or, if that is not
 * among them, the first. If the signer is away, the keys of the last run, in the file, do.
 */
export const connect = <E, R>(
  target: Target,
  nodeKey: Keys.Signer,
  genesisHash: Hash,
  inForce: (held: Keys.PublicKey) => Effect.Effect<Option.Option<Address.Address>, E, R>,
  file: string,
): Effect.Effect<RemoteSigner, E, R | FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Runtime.runFork(yield* Effect.runtime<R | FileSystem.FileSystem>())
    const kept = yield* keysOfLastRun(file, target)
    let publicKeys: ReadonlyArray<Keys.PublicKey> = kept
    const tell = telling(target, () => publicKeys.length > 0)
    let hasAnswered = false
    let known: () => void = () => {}
    const named = new Promise<void>((resolve) => {
      known = resolve
    })
    // A key that is not announced yet leads to no seat, so each is asked about.
    const chosen = (keys: ReadonlyArray<Keys.PublicKey>) =>
      Effect.map(Effect.forEach(keys, inForce), (found) => {
        const wanted = found.flatMap(Option.toArray)
        const [first] = keys
        if (first === undefined) throw new Error("the signer has named no keys")
        return keys.find((key) => wanted.includes(Address.fromPublicKey(key))) ?? first
      })
    let saved = kept
    const save = Effect.gen(function* () {
      const keys = publicKeys
      if (keys.join() === saved.join()) return
      if (yield* SignerKeysFile.save(file, target.key, keys)) saved = keys
      else yield* log.warn("the signer's keys cannot be saved: without them a start waits for the signer", { file })
    })
    yield* Effect.forkScoped(Effect.repeat(save, Schedule.spaced(SAVE_EVERY)))
    const compare = (before: ReadonlyArray<Keys.PublicKey>, now: ReadonlyArray<Keys.PublicKey>) =>
      before.length === 0 || isSame(before, now)
        ? Effect.void
        : log.warn("the signer has other keys", { before: before.join(), now: now.join() })
    const connection = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const changed = (state: State): void => {
          fork(tell(state))
          if (state._tag !== "Ready") return
          if (state.publicKeys.length === 0) return
          fork(compare(publicKeys, state.publicKeys))
          publicKeys = state.publicKeys
          fork(save)
          hasAnswered = true
          known()
        }
        return new Connection({ nodeKey, genesisHash, signer: target, clock: nodeClock, changed })
      }),
      (opened) => Effect.sync(() => opened.stop()),
    )
    yield* Effect.promise(() => (kept.length > 0 ? Promise.race([named, nodeClock.wait(ANSWERS_WITHIN_MS)]) : named))
    const isAlone = !hasAnswered
    const publicKey = yield* chosen(publicKeys)
    return {
      publicKey,
      hasAnswered: () => hasAnswered,
      toRestartWith: Effect.suspend(() =>
        isAlone && connection.state._tag === "Ready" ? Effect.asSome(chosen(publicKeys)) : Effect.succeedNone,
      ).pipe(
        // A restart with the same key would gain nothing, and a slow signer would cause one after the other.
        Effect.map(Option.filter((key) => key !== publicKey)),
        Effect.orElseSucceed(() => Option.none()),
        Effect.provide(yield* Effect.context<R>()),
      ),
      publicKeys: () => publicKeys,
      absence: () => (connection.state._tag === "Away" ? connection.state.reason : null),
      waiting: () => connection.waiting,
      quietMs: () => connection.quietMs,
      refusal: () => connection.refusal,
      tell: (place) => connection.tell(publicKey, place),
      sign: async (bytes) => {
        const answer = await connection.sign(publicKey, bytes)
        if (Either.isLeft(answer)) fork(log.warn("the signer refuses a signature", { reason: answer.left }))
        return answer
      },
    }
  })

/** A connection does not wait longer for a signer: without its proof the other node treats this one as no validator. */
const PROOF_MS = 1_000
/** Anybody who connects wants a proof, and vertices wait behind proofs at the signer. */
const MOST_PROOFS_AT_ONCE = 8

export const proverWith = (signer: Pick<RemoteSigner, "publicKey" | "absence" | "sign">): Prover => {
  const isAway = () => signer.absence() !== null
  let open = 0
  const signed = async (bytes: Uint8Array): Promise<Keys.Signature | null> => {
    open++
    const answer = await signer.sign(bytes).finally(() => open--)
    return Either.getOrElse(answer, () => null)
  }
  return {
    publicKey: signer.publicKey,
    isAway,
    sign: async (bytes) =>
      isAway() || open >= MOST_PROOFS_AT_ONCE
        ? null
        : Promise.race([signed(bytes), nodeClock.wait(PROOF_MS).then(() => null)]),
  }
}
