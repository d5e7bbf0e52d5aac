/**
 * Looks whether this validator signs with another key from now on, or from the next change on. If the node has the key,
 * it restarts with it within its process once it is in force; every connection then proves the new key.
 */
import { basename } from "node:path"
import { FileSystem } from "@effect/platform"
import { Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as KeyInForce from "../../replica/signing/KeyInForce.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import { KeyPassphrase } from "../../storage/files/KeyPassphrase.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import { Engine } from "../engine/Engine.js"
import { KeyReplaced } from "../lifecycle/Ending.js"
import { Supervisor } from "../lifecycle/Supervisor.js"
import * as Log from "../log/Log.js"
import { Home, validatorOf } from "../start/Home.js"
import * as ValidatorKeys from "../start/ValidatorKeys.js"

const log = Log.for("validator")

const LOOK_EVERY = Duration.millis(500)

/** Why the node cannot sign with a key. */
export interface Hitch {
  readonly key: Address.Address
  /** False before the epoch in which the key takes effect. */
  readonly isInForce: boolean
  readonly why: string
}

const make = Effect.gen(function* () {
  const home = yield* Home
  const { view } = yield* Engine
  const supervisor = yield* Supervisor
  const files = yield* FileSystem.FileSystem
  const { location } = home
  const own = Option.map(validatorOf(home), Address.fromPublicKey)
  let hitch: Hitch | null = null
  let last: Address.Address | null = null
  let complaint = ""
  /** The last file that the passphrase did or did not open: each try takes half a second and 128 MiB. */
  let tried = { version: "", opens: true }

  const settle = (): void => {
    hitch = null
    complaint = ""
  }

  const complain = (found: Hitch, epoch: number, unreadable: ReadonlyArray<string>) => {
    const said = [found.key, found.isInForce, found.why, ...unreadable].join()
    if (said === complaint) return Effect.void
    complaint = said
    return Effect.zipRight(
      Effect.forEach(unreadable, (reason) => log.warn(reason)),
      log.warn(`this validator cannot sign${found.isInForce ? "" : " once its key changes"}: ${found.why}`, {
        epoch,
        key: found.key,
      }),
    )
  }

  const opens = ({ path, content }: ValidatorKeys.File) =>
    Effect.gen(function* () {
      const version = content._tag === "Plain" ? "" : content.sealed.content
      if (version !== tried.version) tried = { version, opens: yield* KeyFile.opens(path, content) }
      return content._tag === "Plain" || tried.opens
    })

  /** Where the key is, or why this node cannot sign with it. */
  const seek = (key: Address.Address) =>
    Effect.gen(function* () {
      const isWanted = (address: Address.Address): boolean => address === key
      if (Option.isSome(home.remoteSigner)) {
        const isHeld = home.remoteSigner.value.publicKeys().map(Address.fromPublicKey).some(isWanted)
        return { unreadable: [], where: {}, why: isHeld ? null : "its signer does not sign with it for this node" }
      }
      const none = { file: Option.none(), unreadable: [] }
      const { file, unreadable } =
        location._tag === "Directory" ? yield* ValidatorKeys.find(location.directory, isWanted) : none
      if (Option.isNone(file))
        return { unreadable, where: {}, why: "no validator-NAME.key in the data directory contains the new key" }
      const { path } = file.value
      const locked = Option.isSome(yield* Effect.flatMap(KeyPassphrase, ({ held }) => held))
        ? `the node's passphrase does not open ${basename(path)}, which contains the new key: change that file's passphrase with udg keys passphrase`
        : `${basename(path)}, which contains the new key, is encrypted, and the node has no passphrase: decrypt the file with udg keys decrypt, or start the node with --key-passphrase-file`
      return { unreadable, where: { file: path }, why: (yield* opens(file.value)) ? null : locked }
    })

  /** The other components can take seconds to end. */
  const replace = (
    address: Address.Address,
    facts: Readonly<Record<string, unknown>>,
    why = "the validator's key is replaced",
  ) =>
    log
      .info(why, facts)
      .pipe(Effect.zipRight(supervisor.end(new KeyReplaced({ address }))), Effect.zipRight(Effect.never))

  const look = (self: Address.Address) =>
    Effect.gen(function* () {
      const ofSigner = Option.isSome(home.remoteSigner) ? yield* home.remoteSigner.value.toRestartWith : Option.none()
      if (Option.isSome(ofSigner)) {
        const key = Address.fromPublicKey(ofSigner.value)
        return yield* replace(key, { key, before: self }, "the signer answers: this node restarts with its key")
      }
      const { following } = view.recovery(yield* SteadyClock.current)
      // On its way to the network's epoch a node passes others, in which the validator had other keys.
      if (["Behind", "EpochOver", "Joining"].includes(following._tag)) return
      const { record } = view.core.epoch.opening
      const wanted = KeyInForce.of(self, record, view.read)
      const isNew = wanted !== last
      last = wanted
      const isInForce = wanted !== self
      const key = isInForce ? wanted : KeyInForce.newest(self, view.read)
      if (key === self) settle()
      // A node that has just started does not know yet how far the others are.
      if (key === self || isNew) return
      const { epoch } = record
      const { unreadable, where, why } = yield* seek(key)
      if (why !== null) {
        hitch = { key, isInForce, why }
        return yield* complain(hitch, epoch, unreadable)
      }
      settle()
      if (isInForce) return yield* replace(key, { epoch, key, before: self, ...where })
    })

  if (Option.isSome(own)) {
    yield* supervisor.restarted(
      "validator key",
      Effect.zipRight(Effect.repeat(look(own.value), Schedule.spaced(LOOK_EVERY)), Effect.never).pipe(
        Effect.provideService(FileSystem.FileSystem, files),
      ),
    )
  }
  return {
    /** Null while the node has every key that its validator needs. */
    hitch: () => hitch,
  }
})

export class KeyWatch extends Context.Tag("udg/KeyWatch")<KeyWatch, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.scoped(KeyWatch, make)
