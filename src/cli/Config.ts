/** `udg config`: checks a configuration file and prints its schema. */
import { Console, Effect } from "effect"
import * as NodeSettings from "./NodeSettings.js"
import * as Command from "./settings/Command.js"
import * as ConfigFile from "./settings/ConfigFile.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"

const config = Setting.group("Configuration files")

const file = Setting.argument("FILE", "the JSON file to check", Reader.file)

const role = config.withDefault(
  "--for node|archive|gateway",
  "the command that reads the file",
  Reader.choice("node", "archive", "gateway"),
  "node",
)

const settingsOf = (role: "node" | "archive" | "gateway") =>
  Effect.promise(async (): Promise<ReadonlyArray<Setting.Setting<unknown>>> => {
    switch (role) {
      case "node":
        return Object.values(NodeSettings.settings)
      case "archive":
        return Object.values((await import("./ArchiveCommand.js")).settings)
      case "gateway":
        return Object.values((await import("./GatewayCommand.js")).settings)
    }
  })

/** Reads the file as a start does. The environment is left out because it could override a mistake in the file. */
const check = Command.action({ file, role }, (given) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(given.role)
    const said = yield* ConfigFile.read(settings, given.file)
    for (const setting of new Set(said.map((each) => each.setting)))
      yield* setting.read(said.filter((each) => each.setting === setting))
    if (given.role === "node") {
      const { values, origins } = yield* Command.valuesOf(NodeSettings.settings, said)
      yield* NodeSettings.together(values, origins)
    }
    // Names only: some values are secret.
    const names = [...new Set(said.map(({ setting }) => setting.name))]
    yield* Console.log(`${given.file} is valid: ${names.length === 0 ? "it sets nothing" : names.join(", ")}`)
  }),
)

const schema = Command.action({ role }, (given) =>
  Effect.flatMap(settingsOf(given.role), (settings) =>
    Console.log(JSON.stringify(ConfigFile.schemaOf(`settings of a udg ${given.role}`, settings), null, 2)),
  ),
)

export const command = Command.withActions(
  {
    name: "config",
    about: "checks a configuration file, or prints its schema",
    examples: [
      ["before a restart", "udg config check /etc/udg/udg.json"],
      ["the same for a gateway's file", "udg config check gateway.json --for gateway"],
      ["for an editor", "udg config schema > udg.schema.json"],
    ],
    footer: [
      'The file has the options without their dashes: --rpc-port 10333 is { "rpc-port": 10333 }. Name it with --config FILE.',
    ],
  },
  new Map(Object.entries({ check, schema })),
)
