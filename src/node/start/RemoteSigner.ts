/** The connection to a signer that holds this node's validator key. The node starts once it knows the key. */
import { Effect, Either, Runtime, type Scope } from "effect"
import { nodeClock } from "../../network/tls/NodeClock.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type * as Keys from "../../protocol/identity/Keys.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import { Connection, type State } from "../../signer/Connection.js"
import * as Log from "../log/Log.js"

const log = Log.for("validator")

export interface Target {
  readonly host: string
  readonly port: number
  readonly key: PeerId
}

export interface RemoteSigner {
  readonly publicKey: Keys.PublicKey
  /** Why the signer does not answer; null while it does. */
  readonly absence: () => string | null
  readonly waiting: () => number
  /** How long it has been away or has left a statement unanswered. */
  readonly quietMs: () => number
  /** The signature, or why the signer refuses, however long it takes. */
  readonly sign: (bytes: Uint8Array) => Promise<Either.Either<Keys.Signature, string>>
}

const told = (state: State) =>
  state._tag === "Ready"
    ? log.info("the signer is connected", { key: state.publicKey })
    : log.warn("no signer: this node follows without signing until it answers", { reason: state.reason })

/** Logs changes, and a signer that stays away only once. */
const telling = () => {
  let last = ""
  return (state: State): Effect.Effect<void> => {
    const now = state._tag === "Ready" ? "ready" : state.reason
    if (now === last) return Effect.void
    last = now
    return told(state)
  }
}

/** Waits until the signer has named the key. */
export const connect = (
  target: Target,
  nodeKey: Keys.Signer,
  genesisHash: Hash,
): Effect.Effect<RemoteSigner, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const tell = telling()
    let publicKey: Keys.PublicKey | null = null
    let known: (publicKey: Keys.PublicKey) => void = () => {}
    const named = new Promise<Keys.PublicKey>((resolve) => {
      known = resolve
    })
    const connection = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const changed = (state: State): void => {
          fork(tell(state))
          if (state._tag !== "Ready") return
          publicKey ??= state.publicKey
          known(publicKey)
        }
        return new Connection({ nodeKey, genesisHash, signer: target, clock: nodeClock, changed })
      }),
      (opened) => Effect.sync(() => opened.stop()),
    )
    return {
      publicKey: yield* Effect.promise(() => named),
      absence: () => (connection.state._tag === "Away" ? connection.state.reason : null),
      waiting: () => connection.waiting,
      quietMs: () => connection.quietMs,
      sign: async (bytes) => {
        const answer = await connection.sign(bytes)
        if (Either.isLeft(answer)) fork(log.warn("the signer refuses a signature", { reason: answer.left }))
        return answer
      },
    }
  })
