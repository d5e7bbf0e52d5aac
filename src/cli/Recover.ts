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
    "the data directory; no node may be running on it",
    Reader.directory,
    resolve("./data"),
    "./data",
  ),
  yes: recovering.flag("--yes", "the node may be started again: the page on its exit code was followed"),
}

const shown = ({ exit_code: code, reason, at, version }: HaltFile.Halt): ReadonlyArray<Sheet.Line> => [
  ...(at === null ? [] : [["ended with", `${code} at ${new Date(at).toISOString()}, udg ${version}`] as const]),
  ["because of", reason],
  ["what to do", `docs/operations/exit-${code}.md`],
]

export const command = Command.make({
  name: "recover",
  about: "lets a node start again that ended with 100, 101 or 102",
  settings,
  examples: [
    ["why the node must not be started yet; changes nothing", "udg recover --data-dir /var/lib/udg"],
    ["after what the page on the exit code says was done", "udg recover --data-dir /var/lib/udg --yes"],
  ],
  footer: [
    "A node that ended with one of these codes leaves halted.json in its directory, and ends with the same code at each start until " +
      "this command, or a person, has removed the file. Nothing else is changed.",
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
      if (!yes) return yield* wrongUsage("nothing was changed; say --yes once the node may be started again")
      yield* Effect.mapError(files.remove(file), (error) =>
        wrongUsage(`${file} cannot be removed (${AtomicFile.reasonOf(error)}); remove it yourself, and start the node`),
      )
      yield* Console.log(`\n${directory.path} is no longer halted: start its node`)
    }).pipe(Effect.scoped),
})
