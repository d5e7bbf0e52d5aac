/** `udg signer`: holds validators' keys for remote nodes and never signs two vertices for a slot. */
import { resolve } from "node:path"
import { Console, Effect, Layer, Option } from "effect"
import * as PeerAddress from "../network/PeerAddress.js"
import * as Logging from "../node/log/Logging.js"
import * as HeldKey from "../signer/HeldKey.js"
import * as KeyProgram from "../signer/KeyProgram.js"
import * as Signer from "../signer/Signer.js"
import * as GenesisFile from "../storage/files/GenesisFile.js"
import * as KeyFile from "../storage/files/KeyFile.js"
import * as NodePassphrase from "./keys/NodePassphrase.js"
import { sayFatal } from "./NodeCommand.js"
import * as NodeSettings from "./NodeSettings.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { wrongUsage } from "./settings/WrongUsage.js"
import * as Environment from "./terminal/Environment.js"
import * as Sheet from "./terminal/Sheet.js"
import { Terminal } from "./terminal/Terminal.js"

const shared = Setting.group("Signer")
const serving = Setting.group("Nodes")

const STANDARD_PORT = 8_333

const dataDir = shared.withDefault(
  "--data-dir DIR",
  "directory of the signer's identity and signing record; never copy or restore it",
  Reader.directory,
  resolve("./signer"),
  "./signer",
)

const genesisFile = shared.required("--genesis FILE", "the genesis file of the network", Reader.file)

const validatorKeyFiles = shared.repeated(
  "--validator-key FILE",
  "file with a validator's secret key; may be repeated",
  Reader.file,
)

const keyPrograms = shared.repeated(
  "--key-program COMMAND",
  "program that holds a validator's key, such as one for an HSM, with its arguments; may be repeated",
  Reader.text,
)

const { keyPassphraseFile, logFormat, config } = NodeSettings.settings

const settings = {
  dataDir,
  genesisFile,
  validatorKeyFiles,
  keyPrograms,
  keyPassphraseFile,
  serve: serving.repeated(
    "--serve NODE[:KEY]",
    "public key of a node to serve, and with several validator keys the public key that signs for it; may be repeated",
    Reader.servedNode,
  ),
  host: serving.withDefault("--host HOST", "address to listen on for nodes", Reader.host, "127.0.0.1"),
  port: serving.withDefault("--port PORT", "port to listen on; 0 takes any free port", Reader.port, STANDARD_PORT),
  logFormat,
  config,
}

const noKey = wrongUsage(
  "a signer needs a validator's key; name its file with --validator-key FILE, or a program with --key-program COMMAND",
)

const environment = Effect.map(
  Effect.forEach(KeyProgram.VARIABLES, (name) =>
    Effect.map(Environment.variable(name), (value) => (value === "" ? {} : { [name]: value })),
  ),
  (found): KeyProgram.Environment => Object.assign({}, ...found),
)

const keysOf = (files: ReadonlyArray<string>, programs: ReadonlyArray<string>) =>
  files.length + programs.length === 0
    ? Effect.fail(noKey)
    : Effect.map(
        Effect.all([
          Effect.forEach(files, (file) => Effect.map(KeyFile.load(file), HeldKey.inMemory)),
          Effect.forEach(programs, (command) =>
            Effect.flatMap(environment, (given) => KeyProgram.start(command, given)),
          ),
        ]),
        ([inFiles, inPrograms]): ReadonlyArray<HeldKey.HeldKey> => [...inFiles, ...inPrograms],
      )

const servedBy = (keys: ReadonlyArray<HeldKey.HeldKey>, { node, key }: Reader.ServedNode) => {
  const [first, second] = keys
  const found = Option.isSome(key) ? keys.find(({ publicKey }) => publicKey === key.value) : first
  if (Option.isNone(key) && second !== undefined) {
    return Effect.fail(wrongUsage(`--serve ${node} does not say which key signs for it; use NODE:KEY`))
  }
  return found === undefined
    ? Effect.fail(
        wrongUsage(`--serve ${node}:${Option.getOrElse(key, () => "")} names a key that this signer does not have`),
      )
    : Effect.succeed({ node, signer: found })
}

const stateOf = (opened: Signer.Opened) => (key: HeldKey.HeldKey) =>
  Effect.map(Signer.known(opened, key.publicKey), (memory): Sheet.Line => {
    const state = Option.match(memory, {
      onNone: () => "signs nothing until udg signer sign-from sets a start",
      onSome: ({ taken: { epoch, round }, isRestored }) =>
        isRestored
          ? `signs nothing, because the directory is a copy, until udg signer sign-from sets a start; the copy ends at ${epoch}:${round}`
          : `signs above round ${round} of epoch ${epoch}`,
    })
    return ["key", [key.publicKey, state]]
  })

const logged = (format: "pretty" | "json") =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const { writeError, colours } = yield* Terminal
      const directives = yield* Environment.variable("RUST_LOG")
      return Logging.layer({ directives, format, colours: colours.stderr, write: writeError })
    }),
  )

const run = Command.make({
  name: "signer",
  about: "holds validators' keys and signs for nodes without them",
  settings,
  examples: [],
  runsUntilStopped: true,
  run: ({ dataDir: path, genesisFile: file, validatorKeyFiles: files, serve, host, port, ...rest }, { version }) =>
    Effect.gen(function* () {
      const genesis = yield* GenesisFile.load(file)
      const keys = yield* keysOf(files, rest.keyPrograms)
      const served = yield* Effect.forEach(serve, (each) => servedBy(keys, each))
      if (served.length === 0) {
        return yield* wrongUsage("a signer serves only nodes on its list; name one with --serve NODE, its public key")
      }
      const opened = yield* Signer.open(path, genesis)
      const listening = yield* Signer.serve({ ...opened, genesis, served, listen: { host, port } })
      const lines = Sheet.indented([
        ["network", genesis.networkId],
        ["signer", PeerAddress.at(listening.id, PeerAddress.hostPort(host, listening.port))],
        ...(yield* Effect.forEach(keys, stateOf(opened))),
        ["serves", [...new Set(served.map(({ node }) => node))]],
      ])
      yield* Console.log(`udg signer ${version}\n\n${lines}\n`)
      return yield* listening.failed
    }).pipe(
      Effect.scoped,
      Effect.tapError(sayFatal),
      Effect.provide(Layer.merge(NodePassphrase.layer(rest.keyPassphraseFile), logged(rest.logFormat))),
    ),
})

const signFrom = Command.action(
  {
    place: Setting.argument("EPOCH:ROUND", "where each key starts to sign; 1:1 for a new key", Reader.place),
    dataDir,
    genesisFile,
    validatorKeyFiles,
    keyPrograms,
    keyPassphraseFile,
  },
  ({ place, dataDir: path, genesisFile: file, validatorKeyFiles: files, ...rest }) =>
    Effect.gen(function* () {
      const genesis = yield* GenesisFile.load(file)
      const keys = yield* keysOf(files, rest.keyPrograms)
      const opened = yield* Signer.open(path, genesis)
      for (const { publicKey } of keys) {
        if (yield* opened.keys.vouch(publicKey, place)) continue
        return yield* wrongUsage(`the key ${publicKey} has signed at or above this place; it can only be raised`)
      }
      const lines = yield* Effect.forEach(keys, stateOf(opened))
      yield* Console.log(Sheet.indented(lines))
    }).pipe(Effect.scoped, Effect.provide(NodePassphrase.layer(rest.keyPassphraseFile))),
)

export const command = Command.withActions(
  {
    name: "signer",
    about: "holds validators' keys and signs for nodes without them",
    examples: [
      [
        "confirm that a new key has signed nothing yet",
        "udg signer sign-from 1:1 --genesis genesis.json --validator-key validator.key",
      ],
      [
        "sign for one node, which runs with --signer",
        "udg signer --genesis genesis.json --validator-key validator.key --serve 4f1c…",
      ],
    ],
    footer: [
      "The signer signs vertices, checkpoints, heartbeats and key proofs of its validators, and nothing else. It never signs " +
        "two vertices for a slot. A new directory has no signing record, so sign-from must first state from which round on a " +
        "key has signed nothing. A node's public key is in its log and in /status.",
    ],
    runsUntilStopped: true,
  },
  new Map([["sign-from", signFrom]]),
  run,
)
