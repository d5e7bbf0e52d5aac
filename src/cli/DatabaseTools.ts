/** `udg db`: tools for the data directory of a stopped node. */
import { join, resolve } from "node:path"
import { FileSystem } from "@effect/platform"
import { Console, Effect, Layer, Option, type Scope } from "effect"
import * as Logging from "../node/log/Logging.js"
import * as Audit from "../node/offline/Audit.js"
import * as Pruning from "../node/offline/Pruning.js"
import * as StateExport from "../node/offline/StateExport.js"
import * as StateImport from "../node/offline/StateImport.js"
import type { SignedCheckpoint } from "../protocol/epoch/Checkpoint.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import { DataDirectory, FILES } from "../storage/files/DataDirectory.js"
import * as GenesisFile from "../storage/files/GenesisFile.js"
import { NoLedger } from "../storage/files/StorageError.js"
import * as Storage from "../storage/Storage.js"
import * as NodeCommand from "./NodeCommand.js"
import * as Agreement from "./settings/Agreement.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import * as Environment from "./terminal/Environment.js"
import * as Figure from "./terminal/Figure.js"
import * as Sheet from "./terminal/Sheet.js"
import { Terminal } from "./terminal/Terminal.js"

const shared = Setting.group("All actions")
const exporting = Setting.group("Exporting (udg db export)")
const importing = Setting.group("Importing (udg db import)")
const pruning = Setting.group("Pruning (udg db prune)")

const dataDir = shared.withDefault(
  "--data-dir DIR",
  "the data directory of a stopped node",
  Reader.directory,
  resolve("./data"),
  "./data",
)

const out = exporting.required("--out FILE", "the file to write; it must not exist", Reader.newFile)

const from = importing.required("--from FILE", "a state written by udg db export", Reader.file)

const genesis = importing.optional(
  "--genesis FILE",
  "the genesis that the state must belong to",
  Reader.file,
  "the one in the data directory; without one, any",
)

const keepRounds = pruning.withDefault(
  "--keep-rounds ROUNDS",
  "how many recent rounds to keep; the running epoch and the one before always stay",
  Reader.keptRounds,
  Pruning.KEPT_ROUNDS,
)

const show = (lines: ReadonlyArray<Sheet.Line>) => Console.log(Sheet.indented(lines))

const networkLines = (genesis: Genesis.Genesis): ReadonlyArray<Sheet.Line> => [
  ["network", `${genesis.networkId} (${genesis.mode})`],
  ["genesis", Genesis.hash(genesis)],
]

const stateLines = (
  genesis: Genesis.Genesis,
  { checkpoint }: SignedCheckpoint,
  records: number,
): ReadonlyArray<Sheet.Line> => [
  ...networkLines(genesis),
  ["checkpoint", [`epoch ${checkpoint.epoch}, round ${checkpoint.round}`, checkpoint.hash]],
  ["state root", checkpoint.stateRoot],
  ["records", Figure.count(records)],
]

/** Logs warnings and errors only, unless RUST_LOG says otherwise. */
const quietly = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { colours, writeError } = yield* Terminal
    const directives = (yield* Environment.variable("RUST_LOG")) || "warn"
    return Logging.layer({ directives, format: "pretty", colours: colours.stderr, write: writeError })
  }),
)

const action = <const S extends Command.Settings>(
  settings: S,
  run: (values: Command.Values<S>) => Effect.Effect<void, Command.Failed, Command.Environment | Scope.Scope>,
) =>
  Command.action(settings, (values) =>
    run(values).pipe(Effect.tapError(NodeCommand.sayFatal), Effect.scoped, Effect.provide(quietly)),
  )

/** Locks the directory of a stopped node and reads its genesis. Does not create a missing directory. */
const open = (path: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
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

const verify = action({ dataDir }, (given) =>
  Effect.gen(function* () {
    const { directory, genesis } = yield* open(given.dataDir)
    const found = yield* Effect.provide(Audit.audit(genesis), Storage.layerToRead(directory, genesis))
    const { head, accounts, totals, stateRoot, closedEpoch, commits, checkpoints } = found
    const since = closedEpoch === 0 ? "the genesis" : `the close of epoch ${closedEpoch}`
    yield* Console.log(`${directory.path} is sound\n`)
    yield* show([
      ...networkLines(genesis),
      ["commit", `${Figure.count(head.index)}, round ${Figure.count(head.leaderRound)}`],
      ["supply", `${Figure.coins(totals.total)} in ${Figure.counted(accounts, "account")}, counted again`],
      ["state root", [stateRoot, `reached again from ${since} by ${commits} commits, over ${checkpoints} checkpoints`]],
    ])
  }),
)

const exportState = action({ dataDir, out }, (given) =>
  Effect.gen(function* () {
    const { directory, genesis } = yield* open(given.dataDir)
    const { target, records } = yield* Effect.provide(
      StateExport.exportTo(given.out, genesis),
      Storage.layerToRead(directory, genesis),
    )
    yield* show([["file", given.out], ...stateLines(genesis, target, records)])
  }),
)

const importState = action({ dataDir, from, genesis }, (given) =>
  Effect.gen(function* () {
    const { genesis, target, records } = yield* StateImport.importFrom(given.from, given.dataDir, given.genesis)
    yield* show([["directory", given.dataDir], ...stateLines(genesis, target, records)])
  }),
)

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

const oldOf = ({ beforeRound, running }: Pruning.Bounds): string =>
  `rounds before ${Figure.count(beforeRound)}, of epochs before ${Figure.count(Math.max(0, running - 1))}`

const FIRST_EPOCH = 1

const isAnyOld = ({ beforeRound, running }: Pruning.Bounds): boolean => beforeRound > 0 && running - 1 > FIRST_EPOCH

/** Asks first: deleted data cannot be restored from this directory. */
const agree = (bounds: Pruning.Bounds, isSaid: boolean) => {
  const what = `the vertices, checkpoints, transactions and histories of ${oldOf(bounds)}`
  return Agreement.ask({
    question: `This deletes ${what}.`,
    unsaid: `this would delete ${what}; use --yes to confirm`,
    unlessAgreed: "nothing was deleted",
    isSaid,
  })
}

const yes = pruning.flag("--yes", "delete without asking first")

const prune = action({ dataDir, keepRounds, yes }, (given) =>
  Effect.gen(function* () {
    const { directory, genesis } = yield* open(given.dataDir)
    const before = yield* bytesOf(directory)
    const pruned = Effect.gen(function* () {
      const bounds = yield* Pruning.boundsNow(given.keepRounds)
      if (!isAnyOld(bounds)) return undefined
      yield* agree(bounds, given.yes)
      return { bounds, ...(yield* Pruning.everything(bounds)) }
    })
    const done = yield* Effect.provide(pruned, Storage.layer({ location: { _tag: "Directory", directory }, genesis }))
    if (done === undefined) {
      const kept = `the running epoch, the one before and the last ${Figure.counted(given.keepRounds, "round")} stay`
      return yield* show([["pruned", `nothing: ${kept}`]])
    }
    const { bounds, vertices, transactions } = done
    const after = yield* bytesOf(directory)
    const freed = mebibytes(Math.max(0, before - after))
    yield* show([
      ["old", oldOf(bounds)],
      [
        "pruned",
        `${Figure.count(vertices)} vertices, ${Figure.counted(transactions, "transaction")} with their histories`,
      ],
      ["freed", `${freed}: ${mebibytes(before)} before, ${mebibytes(after)} after`],
    ])
  }),
)

export const command = Command.withActions(
  {
    name: "db",
    about: "verifies, exports, imports and prunes the data directory of a stopped node",
    examples: [
      ["verify the data; changes nothing", "udg db verify --data-dir /var/lib/udg"],
      ["the state of the last closed epoch, with its proof", "udg db export --out state.udg"],
      [
        "create a data directory from that state",
        "udg db import --from state.udg --genesis genesis.json --data-dir new",
      ],
      ["delete old vertices, checkpoints, transactions and histories", "udg db prune --keep-rounds 1000000 --yes"],
    ],
    footer: [
      "verify runs all checks of a start (pages, supply, state root, the running epoch's commits decided again), then " +
        "executes the running epoch again from the previous close. Its exit codes: 0 sound, 1 damage, 100 finality rollback, " +
        "101 supply invariant violated, 102 internal fault.",
      "export, import and prune are atomic: an interruption changes nothing.",
    ],
  },
  new Map(Object.entries({ verify, export: exportState, import: importState, prune })),
)
