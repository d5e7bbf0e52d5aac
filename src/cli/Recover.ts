/** `udg recover`: clears the halt of a node that ended with 100, 101 or 102. */
import { join, resolve } from "node:path"
import { FileSystem } from "@effect/platform"
import { Console, Effect, Option } from "effect"
import * as AtomicFile from "../storage/files/AtomicFile.js"
import { DataDirectory, FILES } from "../storage/files/DataDirectory.js"
import * as HaltFile from "../storage/files/HaltFile.js"
import { NoLedger } from "../storage/files/StorageError.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import { wrongUsage } from "./settings/WrongUsage.js"
import * as Sheet from "./terminal/Sheet.js"

const recovering = Setting.group("Recovering")

const settings = {
  dataDir: recovering.withDefault(
    "--data-dir DIR",
    "the data directory of a stopped node",
    Reader.directory,
    resolve("./data"),
    "./data",
  ),
  yes: recovering.flag("--yes", "confirms that you followed the page on the exit code"),
}

const shown = ({ exit_code: code, reason, at, version }: HaltFile.Halt): ReadonlyArray<Sheet.Line> => [
  ...(at === null ? [] : [["ended with", `${code} at ${new Date(at).toISOString()}, udg ${version}`] as const]),
  ["because of", reason],
  ["what to do", `docs/operations/exit-${code}.md`],
]

export const command = Command.make({
  name: "recover",
  about: "clears the halt of a node that ended with 100, 101 or 102",
  settings,
  examples: [
    ["show why the node is halted; changes nothing", "udg recover --data-dir /var/lib/udg"],
    ["once you have followed the page on the exit code", "udg recover --data-dir /var/lib/udg --yes"],
  ],
  footer: [
    "A node that ends with one of these codes leaves halted.json in its directory and ends with the same code at every " +
      "start while the file exists. This command removes the file and changes nothing else.",
  ],
  run: ({ dataDir, yes }) =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      if (!(yield* Effect.orElseSucceed(files.exists(join(dataDir, FILES.genesis)), () => true)))
        return yield* new NoLedger({ directory: dataDir })
      const directory = yield* DataDirectory.open(dataDir)
      const file = directory.fileOf("halted")
      const halt = yield* HaltFile.load(file)
      if (Option.isNone(halt)) return yield* Console.log(`${directory.path} is not halted: start its node`)
      yield* Console.log(Sheet.indented(shown(halt.value)))
      if (!yes) return yield* wrongUsage("nothing was changed; use --yes once the node can be started again")
      yield* Effect.mapError(files.remove(file), (error) =>
        wrongUsage(`${file} cannot be removed (${AtomicFile.reasonOf(error)}); remove it yourself, and start the node`),
      )
      yield* Console.log(`\n${directory.path} is no longer halted: start its node`)
    }).pipe(Effect.scoped),
})
