/**
 * Which network this node is on, and with which keys: from the command line, from the data directory, or, on a first
 * start, made here.
 */
import type { FileSystem } from "@effect/platform"
import { Clock, Context, Data, Effect, Layer, Option, type Scope } from "effect"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Protocol from "../../protocol/epoch/Protocol.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Keys from "../../protocol/identity/Keys.js"
import type { Mode } from "../../protocol/identity/Network.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as AtomicFile from "../../storage/files/AtomicFile.js"
import { DataDirectory } from "../../storage/files/DataDirectory.js"
import * as GenesisFile from "../../storage/files/GenesisFile.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import type { DirectoryLocked, DirectoryUnusable, OpenError } from "../../storage/files/StorageError.js"
import * as Storage from "../../storage/Storage.js"
import * as Log from "../log/Log.js"
import { Configuration, type Settings } from "./Configuration.js"
import * as Founding from "./Founding.js"
import * as Weaknesses from "./Weaknesses.js"

const log = Log.for("node")

/** The settings ask for something that this data directory or network is not. */
export class SettingsDisagree extends Data.TaggedError("SettingsDisagree")<{ readonly message: string }> {}

export type HomeError =
  | SettingsDisagree
  | KeyFile.KeyFileError
  | GenesisFile.GenesisFileError
  | DirectoryLocked
  | DirectoryUnusable
  | OpenError

export class Home extends Context.Tag("udg/Home")<
  Home,
  {
    readonly location: Storage.Location
    readonly genesis: Genesis.Genesis
    /** The network was made by this start. */
    readonly isFounded: boolean
    /** None for a node that only follows. */
    readonly validatorKey: Option.Option<Keys.SecretKey>
    /** None where there is no faucet, or its key is elsewhere. */
    readonly faucetKey: Option.Option<Keys.SecretKey>
  }
>() {}

type Found = Effect.Effect<Context.Tag.Service<Home>, HomeError, FileSystem.FileSystem | Scope.Scope>

const flagOf = (mode: Mode): string => `--testnet ${mode === "testnet"}`

const requireMode = (settings: Settings, { mode, networkId }: Genesis.Genesis) =>
  Option.match(settings.mode, {
    onNone: () => Effect.void,
    onSome: (asked) =>
      asked === mode
        ? Effect.void
        : new SettingsDisagree({
            message: `${flagOf(asked)} asks for a ${asked}, but the genesis of ${networkId} says ${mode}; leave the option out or name another data directory or genesis`,
          }),
  })

const warnOfRoundMs = (settings: Settings, { protocol, networkId }: Genesis.Genesis) =>
  Option.match(settings.roundMs, {
    onNone: () => Effect.void,
    onSome: (asked) =>
      log.warn(
        `--round-ms ${asked} is ignored: ${networkId} exists already, with rounds of ${protocol.roundIntervalMs} ms`,
      ),
  })

/** The key in the directory. A fresh one where no node ran before: later it would be another validator, without a word. */
const ownValidatorKey = (directory: DataDirectory) =>
  Effect.gen(function* () {
    const file = directory.fileOf("validatorKey")
    const hasKey = yield* Effect.orElseSucceed(AtomicFile.isTaken(file), () => true)
    if (hasKey || !(yield* Effect.orElseSucceed(AtomicFile.isTaken(directory.fileOf("signed")), () => true)))
      return yield* KeyFile.loadOrCreate(file)
    return yield* new SettingsDisagree({
      message: `${file} is not there, but this directory was used before; put it back, name another with --validator-key FILE, make a new validator by: udg genesis key --out ${file}, or only follow with --no-validate`,
    })
  })

/** The key of a file that was named, or of the directory. */
const validatorKey = (settings: Settings, directory: Option.Option<DataDirectory>) =>
  Option.match(settings.validatorKeyFile, {
    onSome: KeyFile.load,
    onNone: () =>
      Option.match(directory, {
        onNone: () => Effect.sync(Keys.SecretKey.generate),
        onSome: ownValidatorKey,
      }),
  })

const newFaucetKey = (settings: Settings, directory: Option.Option<DataDirectory>) =>
  Option.match(settings.faucetKeyFile, {
    onSome: KeyFile.load,
    onNone: () =>
      Option.match(directory, {
        onNone: () => Effect.sync(Keys.SecretKey.generate),
        onSome: (held) => KeyFile.loadOrCreate(held.fileOf("faucetKey")),
      }),
  })

const found = (settings: Settings, directory: Option.Option<DataDirectory>) =>
  Effect.gen(function* () {
    if (!settings.validate)
      return yield* new SettingsDisagree({
        message: "--no-validate: a new solo network has no other validator; name a network with --genesis FILE",
      })
    const mode = Option.getOrElse(settings.mode, (): Mode => "testnet")
    const validator = yield* validatorKey(settings, directory)
    const faucet = mode === "testnet" ? Option.some(yield* newFaucetKey(settings, directory)) : Option.none()
    const genesis = Founding.solo({
      mode,
      time: Natural.timestamp(yield* Clock.currentTimeMillis),
      roundIntervalMs: Option.getOrElse(settings.roundMs, () => Protocol.standard.roundIntervalMs),
      validator: validator.publicKey,
      faucet: Option.match(faucet, { onNone: () => null, onSome: ({ publicKey }) => publicKey }),
    })
    return { genesis, isFounded: true, validatorKey: Option.some(validator), faucetKey: faucet }
  })

const isFaucetKey = ({ faucet }: Genesis.Genesis, key: Keys.SecretKey): boolean =>
  faucet !== null && Address.fromPublicKey(key.publicKey) === faucet.address

/** The faucet's key, if this node has it: named, or in the data directory. */
const heldFaucetKey = (settings: Settings, genesis: Genesis.Genesis, directory: Option.Option<DataDirectory>) =>
  Effect.gen(function* () {
    if (Option.isSome(settings.faucetKeyFile)) {
      const file = settings.faucetKeyFile.value
      const key = yield* KeyFile.load(file)
      if (isFaucetKey(genesis, key)) return Option.some(key)
      return yield* new SettingsDisagree({
        message: `--faucet-key ${file} is not the key of the faucet of ${genesis.networkId}; leave the option out or name the right file`,
      })
    }
    if (genesis.faucet === null || Option.isNone(directory)) return Option.none()
    const file = directory.value.fileOf("faucetKey")
    if (!(yield* Effect.orElseSucceed(AtomicFile.isTaken(file), () => false))) return Option.none()
    const key = yield* KeyFile.load(file)
    if (isFaucetKey(genesis, key)) return Option.some(key)
    yield* log.warn(`${file} is not the key of the faucet of ${genesis.networkId}; this node has no faucet`)
    return Option.none()
  })

const join = (settings: Settings, genesis: Genesis.Genesis, directory: Option.Option<DataDirectory>) =>
  Effect.gen(function* () {
    yield* requireMode(settings, genesis)
    yield* warnOfRoundMs(settings, genesis)
    yield* Effect.forEach(Weaknesses.of(genesis), (text) => log.warn(`weak genesis: ${text}`))
    return {
      genesis,
      isFounded: false,
      validatorKey: settings.validate
        ? Option.some(yield* validatorKey(settings, directory))
        : Option.none<Keys.SecretKey>(),
      faucetKey: yield* heldFaucetKey(settings, genesis, directory),
    }
  })

/** The genesis in the directory: its file, or, where that is gone, the one its database was made with. */
const keptGenesis = (directory: DataDirectory) =>
  Effect.gen(function* () {
    const file = directory.fileOf("genesis")
    if (yield* Effect.orElseSucceed(AtomicFile.isTaken(file), () => true)) {
      return Option.some(yield* GenesisFile.load(file))
    }
    const genesis = yield* Storage.genesisOf(directory)
    if (Option.isNone(genesis)) return Option.none()
    yield* log.warn(`${file} is gone; it is written again from the database`)
    yield* GenesisFile.write(file, genesis.value)
    return genesis
  })

const requireSame = (directory: DataDirectory, file: string, named: Genesis.Genesis, kept: Genesis.Genesis) =>
  Genesis.hash(named) === Genesis.hash(kept)
    ? Effect.void
    : new SettingsDisagree({
        message: `--genesis ${file} is ${named.networkId} (${Genesis.hash(named)}), but ${directory.path} holds ${kept.networkId} (${Genesis.hash(kept)}); name another data directory`,
      })

const inDirectory = (settings: Settings): Found =>
  Effect.gen(function* () {
    const directory = yield* DataDirectory.open(settings.dataDirectory)
    if (directory.isOpenToOthers) {
      yield* log.warn(
        `other users of this machine may look into ${directory.path}; to end that: chmod 700 ${directory.path}`,
      )
    }
    const location = { _tag: "Directory", directory } as const
    const kept = yield* keptGenesis(directory)
    if (Option.isSome(settings.genesisFile)) {
      const file = settings.genesisFile.value
      const named = yield* GenesisFile.load(file)
      if (Option.isSome(kept)) yield* requireSame(directory, file, named, kept.value)
      const joined = yield* join(settings, named, Option.some(directory))
      if (Option.isNone(kept)) yield* GenesisFile.write(directory.fileOf("genesis"), named)
      return { location, ...joined }
    }
    if (Option.isSome(kept)) return { location, ...(yield* join(settings, kept.value, Option.some(directory))) }
    const founded = yield* found(settings, Option.some(directory))
    // Behind the keys: what a crash leaves before this is a directory with keys, which the next start takes.
    yield* GenesisFile.write(directory.fileOf("genesis"), founded.genesis)
    return { location, ...founded }
  })

const inMemory = (settings: Settings): Found =>
  Effect.gen(function* () {
    const location = { _tag: "Ephemeral" } as const
    if (Option.isNone(settings.genesisFile)) return { location, ...(yield* found(settings, Option.none())) }
    const genesis = yield* GenesisFile.load(settings.genesisFile.value)
    return { location, ...(yield* join(settings, genesis, Option.none())) }
  })

/** Holds the data directory until the scope ends. */
export const layer: Layer.Layer<Home, HomeError, Configuration | FileSystem.FileSystem> = Layer.scoped(
  Home,
  Effect.flatMap(Configuration, (settings) => (settings.ephemeral ? inMemory(settings) : inDirectory(settings))),
)

export const storageLayer = Layer.unwrapEffect(
  Effect.map(Home, ({ location, genesis }) => Storage.layer({ location, genesis })),
)
