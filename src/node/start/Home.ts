/** This node's network and keys: from the command line, from the data directory or, on a first start, newly made. */
import type { FileSystem } from "@effect/platform"
import { Cause, Clock, Context, Data, Effect, Exit, Layer, Option, type Scope } from "effect"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Protocol from "../../protocol/epoch/Protocol.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Keys from "../../protocol/identity/Keys.js"
import type { Mode } from "../../protocol/identity/Network.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as AtomicFile from "../../storage/files/AtomicFile.js"
import { DataDirectory } from "../../storage/files/DataDirectory.js"
import * as GenesisFile from "../../storage/files/GenesisFile.js"
import * as HaltFile from "../../storage/files/HaltFile.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import { KeyPassphrase } from "../../storage/files/KeyPassphrase.js"
import type { KeyFileError } from "../../storage/files/OwnFile.js"
import * as RunningFile from "../../storage/files/RunningFile.js"
import type { DirectoryLocked, DirectoryUnusable, OpenError } from "../../storage/files/StorageError.js"
import * as Storage from "../../storage/Storage.js"
import { exitCodeOf, Halted } from "../lifecycle/Ending.js"
import * as Log from "../log/Log.js"
import { Configuration, type Settings } from "./Configuration.js"
import * as Founding from "./Founding.js"
import * as RemoteSigner from "./RemoteSigner.js"
import * as ValidatorKeys from "./ValidatorKeys.js"
import * as Weaknesses from "./Weaknesses.js"

const log = Log.for("node")

/** The settings contradict this data directory or network. */
export class SettingsDisagree extends Data.TaggedError("SettingsDisagree")<{ readonly message: string }> {}

export type HomeError =
  | SettingsDisagree
  | Halted
  | KeyFileError
  | GenesisFile.GenesisFileError
  | DirectoryLocked
  | DirectoryUnusable
  | OpenError

export class Home extends Context.Tag("udg/Home")<
  Home,
  {
    readonly location: Storage.Location
    readonly genesis: Genesis.Genesis
    readonly isFounded: boolean
    /** None if the node only follows the network, or its key is held remotely. */
    readonly validatorKey: Option.Option<Keys.Signer>
    /** The connection to a remote signer, if it holds the validator's key. */
    readonly remoteSigner: Option.Option<RemoteSigner.RemoteSigner>
    /** None if there is no faucet, or another node has its key. */
    readonly faucetKey: Option.Option<Keys.Signer>
  }
>() {}

/** The validator's public key, wherever the secret key is. */
export const validatorOf = ({
  validatorKey,
  remoteSigner,
}: Pick<Context.Tag.Service<typeof Home>, "validatorKey" | "remoteSigner">): Option.Option<Keys.PublicKey> =>
  Option.map(
    Option.orElse(validatorKey, (): Option.Option<Pick<Keys.Signer, "publicKey">> => remoteSigner),
    ({ publicKey }) => publicKey,
  )

type Found = Effect.Effect<Context.Tag.Service<Home>, HomeError, FileSystem.FileSystem | Scope.Scope>

const flagOf = (mode: Mode): string => `--testnet ${mode === "testnet"}`

const disagree = (message: string) => new SettingsDisagree({ message })

const requireMode = (settings: Settings, { mode, networkId }: Genesis.Genesis) =>
  Option.isNone(settings.mode) || settings.mode.value === mode
    ? Effect.void
    : disagree(
        `${flagOf(settings.mode.value)} asks for a ${settings.mode.value}, but the genesis of ${networkId} says ${mode}; leave out the option, or choose another data directory or genesis`,
      )

const warnOfRoundMs = ({ roundMs }: Settings, { protocol, networkId }: Genesis.Genesis) =>
  Option.isNone(roundMs)
    ? Effect.void
    : log.warn(
        `--round-ms ${roundMs.value} is ignored: ${networkId} already exists, with rounds of ${protocol.roundIntervalMs} ms`,
      )

/** The signer for the key in the file. A passphrase for new keys implies that keys should be encrypted. */
const keyIn = (file: string) =>
  Effect.gen(function* () {
    const content = yield* KeyFile.read(file)
    if (content._tag === "Plain" && Option.isSome((yield* KeyPassphrase).ofNewKeys)) {
      yield* log.warn(`${file} is in plain text, although there is a passphrase; run: udg keys encrypt --key ${file}`)
    }
    return Keys.signerOf(yield* KeyFile.unlock(file, content))
  })

interface Chosen {
  readonly key: Keys.Signer
  /** Writes a new key to its file, once nothing can refuse the start any more. */
  readonly keep: Effect.Effect<void, KeyFileError, FileSystem.FileSystem>
}

const present = (key: Keys.Signer): Chosen => ({ key, keep: Effect.void })

/** The signer for the key in the file, or for a fresh key. */
const keyInOrNew = (file: string) =>
  Effect.gen(function* () {
    if (yield* Effect.orElseSucceed(AtomicFile.isTaken(file), () => true)) return present(yield* keyIn(file))
    const key = Keys.SecretKey.generate()
    return { key: Keys.signerOf(key), keep: KeyFile.create(file, key) }
  })

/**
 * The key in the directory. Only a new directory gets a new key: in a used one it would silently be another validator.
 */
const ownValidatorKey = (directory: DataDirectory) =>
  Effect.gen(function* () {
    const file = directory.fileOf("validatorKey")
    const hasKey = yield* Effect.orElseSucceed(AtomicFile.isTaken(file), () => true)
    if (hasKey || !(yield* Effect.orElseSucceed(AtomicFile.isTaken(directory.fileOf("signed")), () => true)))
      return yield* keyInOrNew(file)
    return yield* disagree(
      `${file} is missing, but this directory was used before; restore it, name another with --validator-key FILE, make a new validator with udg genesis key --out ${file}, name its signer with --signer, or only follow with --no-validate`,
    )
  })

/** The key in the named file or in the directory; a new one if neither exists. */
const keyFrom = <E, R>(
  file: Option.Option<string>,
  directory: Option.Option<DataDirectory>,
  inDirectory: (directory: DataDirectory) => Effect.Effect<Chosen, E, R>,
) =>
  Effect.gen(function* () {
    if (Option.isSome(file)) return present(yield* keyIn(file.value))
    if (Option.isSome(directory)) return yield* inDirectory(directory.value)
    return present(Keys.signerOf(Keys.SecretKey.generate()))
  })

const validatorKey = ({ validatorKeyFile }: Settings, directory: Option.Option<DataDirectory>) =>
  keyFrom(validatorKeyFile, directory, ownValidatorKey)

/** The key for which the node has restarted, or the one under which this validator has a seat in the running epoch. */
const keyInForce = (directory: DataDirectory) => (held: Keys.PublicKey) =>
  Effect.gen(function* () {
    const preferred = yield* ValidatorKeys.Preferred
    return Option.isSome(preferred) ? preferred : yield* Storage.seatKeyOf(directory, Address.fromPublicKey(held))
  })

/** The key in force, if it is one of the keys in the directory; otherwise the validator's first one. */
const presentKey = (own: Keys.Signer, directory: Option.Option<DataDirectory>) =>
  Effect.gen(function* () {
    if (Option.isNone(directory) || (yield* ValidatorKeys.namesIn(directory.value.path)).length === 0) return own
    const wanted = yield* keyInForce(directory.value)(own.publicKey)
    if (Option.isNone(wanted) || wanted.value === Address.fromPublicKey(own.publicKey)) return own
    const { file } = yield* ValidatorKeys.find(directory.value, (address) => address === wanted.value)
    return Option.isSome(file) ? yield* keyIn(file.value.path) : own
  })

const newFaucetKey = ({ faucetKeyFile }: Settings, directory: Option.Option<DataDirectory>) =>
  keyFrom(faucetKeyFile, directory, (held) => keyInOrNew(held.fileOf("faucetKey")))

const found = (settings: Settings, directory: Option.Option<DataDirectory>) =>
  Effect.gen(function* () {
    if (!settings.validate)
      return yield* disagree(
        "--no-validate: a new solo network has no other validator; name a network with --genesis FILE",
      )
    if (Option.isSome(settings.signer)) {
      return yield* disagree("--signer: a new network is made with its first key; name a network with --genesis FILE")
    }
    const mode = Option.getOrElse(settings.mode, (): Mode => "testnet")
    const validator = yield* validatorKey(settings, directory)
    const faucet = mode === "testnet" ? Option.some(yield* newFaucetKey(settings, directory)) : Option.none()
    const genesis = Founding.solo({
      mode,
      time: Natural.nearestTimestamp(yield* Clock.currentTimeMillis),
      roundIntervalMs: Option.getOrElse(settings.roundMs, () => Protocol.standard.roundIntervalMs),
      validator: validator.key.publicKey,
      faucet: Option.getOrNull(Option.map(faucet, ({ key }) => key.publicKey)),
    })
    yield* validator.keep
    if (Option.isSome(faucet)) yield* faucet.value.keep
    return {
      genesis,
      isFounded: true,
      validatorKey: Option.some(validator.key),
      remoteSigner: Option.none(),
      faucetKey: Option.map(faucet, ({ key }) => key),
    }
  })

const isFaucetKey = ({ faucet }: Genesis.Genesis, { publicKey }: Keys.Signer): boolean =>
  faucet !== null && Address.fromPublicKey(publicKey) === faucet.address

/** The faucet's key if this node has it: in the named file, or in the data directory. */
const heldFaucetKey = (settings: Settings, genesis: Genesis.Genesis, directory: Option.Option<DataDirectory>) =>
  Effect.gen(function* () {
    if (Option.isSome(settings.faucetKeyFile)) {
      const file = settings.faucetKeyFile.value
      const key = yield* keyIn(file)
      if (isFaucetKey(genesis, key)) return Option.some(key)
      return yield* disagree(
        `--faucet-key ${file} is not the key of the faucet of ${genesis.networkId}; leave out the option, or name the right file`,
      )
    }
    if (genesis.faucet === null || Option.isNone(directory)) return Option.none()
    const file = directory.value.fileOf("faucetKey")
    if (!(yield* Effect.orElseSucceed(AtomicFile.isTaken(file), () => false))) return Option.none()
    const key = yield* keyIn(file)
    if (isFaucetKey(genesis, key)) return Option.some(key)
    yield* log.warn(`${file} is not the key of the faucet of ${genesis.networkId}; this node has no faucet`)
    return Option.none()
  })

/** The connection to the signer, once it has named the key. */
const signerOf = ({ signer }: Settings, genesis: Genesis.Genesis, directory: Option.Option<DataDirectory>) =>
  Effect.gen(function* () {
    if (Option.isNone(signer)) return Option.none()
    if (Option.isNone(directory)) return yield* disagree("--signer needs a data directory; leave out --ephemeral")
    const nodeKey = yield* KeyFile.loadOrCreate(directory.value.fileOf("nodeKey"))
    yield* log.info("asking a signer for its validator key", { node: nodeKey.publicKey })
    const inForce = keyInForce(directory.value)
    const file = directory.value.fileOf("signerKeys")
    return Option.some(yield* RemoteSigner.connect(signer.value, nodeKey, Genesis.hash(genesis), inForce, file))
  })

const join = (settings: Settings, genesis: Genesis.Genesis, directory: Option.Option<DataDirectory>) =>
  Effect.gen(function* () {
    yield* requireMode(settings, genesis)
    yield* warnOfRoundMs(settings, genesis)
    yield* Effect.forEach(Weaknesses.of(genesis), (text) => log.warn(`weak genesis: ${text}`))
    const remoteSigner = yield* signerOf(settings, genesis, directory)
    const isHere = settings.validate && Option.isNone(remoteSigner)
    const own = isHere ? Option.some(yield* validatorKey(settings, directory)) : Option.none()
    const faucetKey = yield* heldFaucetKey(settings, genesis, directory)
    if (Option.isSome(own)) yield* own.value.keep
    return {
      genesis,
      isFounded: false,
      remoteSigner,
      validatorKey: Option.isSome(own) ? Option.some(yield* presentKey(own.value.key, directory)) : Option.none(),
      faucetKey,
    }
  })

/** The genesis in the directory: its file or, if that is missing, the one in the database. */
const keptGenesis = (directory: DataDirectory) =>
  Effect.gen(function* () {
    const file = directory.fileOf("genesis")
    if (yield* Effect.orElseSucceed(AtomicFile.isTaken(file), () => true)) {
      return Option.some(yield* GenesisFile.load(file))
    }
    const genesis = yield* Storage.genesisOf(directory)
    if (Option.isNone(genesis)) return Option.none()
    yield* log.warn(`${file} was missing; it is restored from the database`)
    yield* GenesisFile.write(file, genesis.value)
    return genesis
  })

const requireSame = (directory: DataDirectory, file: string, named: Genesis.Genesis, kept: Genesis.Genesis) =>
  Genesis.hash(named) === Genesis.hash(kept)
    ? Effect.void
    : disagree(
        `--genesis ${file} is ${named.networkId} (${Genesis.hash(named)}), but ${directory.path} holds ${kept.networkId} (${Genesis.hash(kept)}); name another data directory`,
      )

const isHalt = (code: number): code is HaltFile.Halt["exit_code"] => code === 100 || code === 101 || code === 102

/** Rejects a directory whose node has halted, and records how this one ends. */
const rememberEnd = (directory: DataDirectory, version: string) =>
  Effect.gen(function* () {
    const file = directory.fileOf("halted")
    const halt = yield* HaltFile.load(file)
    if (Option.isSome(halt)) {
      const { exit_code: exitCode, reason, at } = halt.value
      return yield* new Halted({ directory: directory.path, exitCode, reason, at })
    }
    const running = directory.fileOf("running")
    const before = yield* RunningFile.load(running)
    yield* Effect.addFinalizer((exit) =>
      Effect.gen(function* () {
        const failure = Exit.isFailure(exit) ? Option.getOrNull(Cause.failureOption(exit.cause)) : null
        if (!(failure instanceof Error && "_tag" in failure && typeof failure._tag === "string"))
          return Exit.isInterrupted(exit) ? yield* RunningFile.end(running, null, before) : undefined
        if (failure._tag === "KeyReplaced") return
        const code = exitCodeOf({ _tag: failure._tag })
        yield* RunningFile.end(running, { exit_code: code, reason: failure.message }, before)
        if (!isHalt(code)) return
        const at = yield* Clock.currentTimeMillis
        yield* HaltFile.write(file, { exit_code: code, reason: failure.message, at, version })
      }),
    )
  })

const inDirectory = (settings: Settings): Found =>
  Effect.flatMap(DataDirectory.open(settings.dataDirectory), (directory) =>
    Effect.onError(within(directory, settings), () => directory.discard),
  )

const within = (directory: DataDirectory, settings: Settings): Found =>
  Effect.gen(function* () {
    yield* rememberEnd(directory, settings.version)
    if (directory.isOpenToOthers) {
      yield* log.warn(
        `other users of this machine can read ${directory.path}; to prevent that: chmod 700 ${directory.path}`,
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
    // After the keys: a crash before this leaves a directory with keys, which the next start uses.
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
