/** `udg db`: what can be done with the data directory of a node that does not run. */
import { join, resolve } from "node:path"
import { FileSystem } from "@effect/platform"
import { Console, Effect, Layer, Option } from "effect"
import * as Logging from "../node/log/Logging.js"
import * as Audit from "../node/offline/Audit.js"
import * as Pruning from "../node/offline/Pruning.js"
import * as StateExport from "../node/offline/StateExport.js"
import * as StateImport from "../node/offline/StateImport.js"
import type { Checkpoint } from "../protocol/epoch/Checkpoint.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Sats from "../protocol/numbers/Sats.js"
import { DataDirectory, FILES } from "../storage/files/DataDirectory.js"
import * as GenesisFile from "../storage/files/GenesisFile.js"
import { NoLedger } from "../storage/files/StorageError.js"
import * as Storage from "../storage/Storage.js"
import * as Node from "./Node.js"
import * as Command from "./settings/Command.js"
import * as Environment from "./settings/Environment.js"
import type * as Help from "./settings/Help.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { Terminal } from "./settings/Terminal.js"
import { WrongUsage } from "./settings/WrongUsage.js"

const DEFAULT_DIRECTORY = "./data"

const dataDir = Setting.value(
  "data-dir",
  {
    group: "All of them",
    placeholder: "DIR",
    about: "the data directory; no node may be running on it",
    otherwise: DEFAULT_DIRECTORY,
  },
  Reader.directory,
)

const exporting = {
  dataDir,
  out: Setting.value(
    "out",
    {
      group: "Exporting (udg db export)",
      placeholder: "FILE",
      about: "where to write the state; never over a file that is there",
    },
    Reader.newFile,
  ),
}

const importing = {
  dataDir,
  from: Setting.value(
    "from",
    { group: "Importing (udg db import)", placeholder: "FILE", about: "the state that udg db export has written" },
    Reader.file,
  ),
  genesis: Setting.value(
    "genesis",
    {
      group: "Importing (udg db import)",
      placeholder: "FILE",
      about: "the genesis that it must be a state of",
      otherwise: "the one in the data directory; without one, any",
    },
    Reader.file,
  ),
}

const pruning = {
  dataDir,
  keepRounds: Setting.value(
    "keep-rounds",
    {
      group: "Pruning (udg db prune)",
      placeholder: "ROUNDS",
      about: "what is older goes, but nothing of the running epoch and the one before",
      otherwise: String(Pruning.KEPT_ROUNDS),
    },
    Reader.keptRounds,
  ),
}

export const about = "verifies, exports, imports and prunes the data directory of a stopped node"

export const page = (version: string): Help.Page => ({
  title: `udg ${version}: tools for the data directory of a node that does not run`,
  usage: "udg db verify|export|import|prune [options]",
  settings: [...new Set(Object.values({ ...exporting, ...importing, ...pruning }))],
  examples: [
    ["is everything what was finalized? Changes nothing", "udg db verify --data-dir /var/lib/udg"],
    ["the state of the last closed epoch, with all that proves it", "udg db export --out state.udg"],
    ["a directory that a node goes on from", "udg db import --from state.udg --genesis genesis.json --data-dir new"],
    ["let go of old vertices, checkpoints, transactions and histories", "udg db prune --keep-rounds 1000000"],
  ],
  footer: [
    "verify does what every start does (pages, supply, state root, the running epoch decided anew) and then executes the " +
      "running epoch again from the close before it. It ends as a node would: 1 for damage, 100 for a finality " +
      "rollback, 101 for a violated supply, 102 for an internal fault, 0 when all is sound.",
    "export, import and prune either happen or leave everything as it was, whenever they are broken off.",
  ],
})

const line = (name: string, value: string): string => `  ${name.padEnd(12)}${value}`

const coins = (sats: Sats.Sats): string => `${Sats.formatCoin(sats)} UDG`

const checkpointLines = ({ epoch, round, hash, stateRoot }: Checkpoint): ReadonlyArray<string> => [
  line("checkpoint", `epoch ${epoch}, round ${round}`),
  line("", hash),
  line("state root", stateRoot),
]

const networkLines = (genesis: Genesis.Genesis): ReadonlyArray<string> => [
  line("network", `${genesis.networkId} (${genesis.mode})`),
  line("genesis", Genesis.hash(genesis)),
]

const directoryOf = (given: Option.Option<string>): string => Option.getOrElse(given, () => resolve(DEFAULT_DIRECTORY))

/** The directory of a stopped node, held, and the genesis of what is in it. A directory that is not there is not made. */
const held = (given: Option.Option<string>) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = directoryOf(given)
    if (!(yield* Effect.orElseSucceed(files.exists(join(path, FILES.database)), () => true))) {
      return yield* new NoLedger({ directory: path })
    }
    const directory = yield* DataDirectory.open(path)
    const file = directory.fileOf("genesis")
    const genesis = (yield* Effect.orElseSucceed(files.exists(file), () => true))
      ? Option.some(yield* GenesisFile.load(file))
      : yield* Storage.genesisOf(directory)
    if (Option.isNone(genesis)) return yield* new NoLedger({ directory: path })
    return { directory, genesis: genesis.value }
  })

const verify = ({ values: given }: Command.Read<{ dataDir: typeof dataDir }>) =>
  Effect.gen(function* () {
    const { directory, genesis } = yield* held(given.dataDir)
    const found = yield* Effect.provide(Audit.audit(genesis), Storage.layerToRead(directory, genesis))
    const { head, accounts, totals, stateRoot, closedEpoch, commits, checkpoints } = found
    const since = closedEpoch === 0 ? "the genesis" : `the close of epoch ${closedEpoch}`
    yield* Console.log(
      [
        `${directory.path} is sound`,
        "",
        ...networkLines(genesis),
        line("commit", `${head.index}, round ${head.leaderRound}`),
        line("supply", `${coins(totals.total)} in ${accounts} accounts, counted again`),
        line("state root", stateRoot),
        line("", `reached again from ${since} by ${commits} commits, over ${checkpoints} checkpoints`),
      ].join("\n"),
    )
  })

const exportState = ({ values: given }: Command.Read<typeof exporting>) =>
  Effect.gen(function* () {
    if (Option.isNone(given.out)) {
      return yield* new WrongUsage({ message: "udg db export needs --out FILE, where the state is to stand" })
    }
    const { directory, genesis } = yield* held(given.dataDir)
    const { target, records } = yield* Effect.provide(
      StateExport.exportTo(given.out.value, genesis),
      Storage.layerToRead(directory, genesis),
    )
    yield* Console.log(
      [
        line("file", given.out.value),
        ...networkLines(genesis),
        ...checkpointLines(target.checkpoint),
        line("records", String(records)),
      ].join("\n"),
    )
  })

const importState = ({ values: given }: Command.Read<typeof importing>) =>
  Effect.gen(function* () {
    if (Option.isNone(given.from)) {
      return yield* new WrongUsage({ message: "udg db import needs --from FILE, which udg db export has written" })
    }
    const path = directoryOf(given.dataDir)
    const { genesis, target, records } = yield* StateImport.importFrom(given.from.value, path, given.genesis)
    yield* Console.log(
      [
        line("directory", path),
        ...networkLines(genesis),
        ...checkpointLines(target.checkpoint),
        line("records", String(records)),
      ].join("\n"),
    )
  })

/** What the database takes on the disk. */
const bytesOf = (directory: DataDirectory) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const sizes = yield* Effect.forEach(["", "-wal"], (suffix) =>
      files.stat(`${directory.fileOf("database")}${suffix}`).pipe(
        Effect.map(({ size }) => Number(size)),
        Effect.orElseSucceed(() => 0),
      ),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  })

const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`

const prune = ({ values: given }: Command.Read<typeof pruning>) =>
  Effect.gen(function* () {
    const { directory, genesis } = yield* held(given.dataDir)
    const before = yield* bytesOf(directory)
    const { bounds, vertices, transactions } = yield* Effect.provide(
      Pruning.everything(Option.getOrElse(given.keepRounds, () => Pruning.KEPT_ROUNDS)),
      Storage.layer({ location: { _tag: "Directory", directory }, genesis }),
    )
    const after = yield* bytesOf(directory)
    yield* Console.log(
      [
        line("old", `rounds before ${bounds.beforeRound}, of epochs before ${Math.max(0, bounds.running - 1)}`),
        line("pruned", `${vertices} vertices, ${transactions} transactions with their histories`),
        line(
          "freed",
          `${mebibytes(Math.max(0, before - after))}: ${mebibytes(before)} before, ${mebibytes(after)} after`,
        ),
      ].join("\n"),
    )
  })

const verbs = {
  verify: (words: ReadonlyArray<string>) => Effect.flatMap(Command.read({ dataDir }, words), verify),
  export: (words: ReadonlyArray<string>) => Effect.flatMap(Command.read(exporting, words), exportState),
  import: (words: ReadonlyArray<string>) => Effect.flatMap(Command.read(importing, words), importState),
  prune: (words: ReadonlyArray<string>) => Effect.flatMap(Command.read(pruning, words), prune),
}

const isVerb = (word: string): word is keyof typeof verbs => Object.hasOwn(verbs, word)

const chosen = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const [verb, ...rest] = words
    if (verb !== undefined && isVerb(verb)) return yield* verbs[verb](rest)
    const what = verb === undefined ? "needs a verb" : `${JSON.stringify(verb)} is none of its verbs`
    return yield* new WrongUsage({ message: `udg db ${what}; give verify, export, import or prune, or --help` })
  })

/** What is not asked for is said only when it is a warning. */
const quietly = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { colours, writeError } = yield* Terminal
    const directives = (yield* Environment.variable("RUST_LOG")) || "warn"
    return Logging.layer({ directives, format: "pretty", colours: colours.stderr, write: writeError })
  }),
)

export const run = (words: ReadonlyArray<string>) =>
  chosen(words).pipe(Effect.tapError(Node.sayFatal), Effect.scoped, Effect.provide(quietly))
