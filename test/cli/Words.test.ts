import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import * as Reader from "../../src/cli/settings/Reader.js"
import * as Setting from "../../src/cli/settings/Setting.js"
import * as Words from "../../src/cli/settings/Words.js"

const about = (placeholder: string) => ({ placeholder, about: `the ${placeholder}` })
const to = Setting.argument("to", about("TO"), Reader.text)
const amount = Setting.optionalArgument("amount", about("AMOUNT"), Reader.text)
const files = Setting.remainingArguments("files", about("FILE"), Reader.text)
const json = Setting.flag("json", { group: "g", ...about("") }, Reader.boolean("true", "false"))
const memo = Setting.value("memo", { group: "g", ...about("TEXT") }, Reader.text)

const reading = (words: ReadonlyArray<string>, ...settings: ReadonlyArray<Setting.Setting<unknown>>) =>
  Either.match(Words.parse(words, settings), {
    onLeft: ({ message }) => message,
    onRight: (said) => said.map(({ setting, value }) => `${setting.name}=${value}`).join(" "),
  })

describe("arguments", () => {
  it.each([
    [["a", "1"], "to=a amount=1"],
    [["a"], "to=a"],
    [["--json", "a", "1"], "json=true to=a amount=1"],
    [["a", "--json", "true"], "to=a json=true amount=true"],
    [["--json=false", "a"], "json=false to=a"],
    [["--memo", "m", "a"], "memo=m to=a"],
    [["a", "-1"], "to=a amount=-1"],
    [["--", "--json", "-x"], "to=--json amount=-x"],
    [["--json", "--", "a"], "json=true to=a"],
    [[], "TO is missing: the TO; see --help"],
    [["a", "1", "2"], '"2" is one argument too many; see --help'],
    [["a", "--to", "b"], '"--to" is not an option; see --help for the options there are'],
    [["a", "--memo"], "--memo needs a value, but nothing follows; write --memo TEXT"],
  ])("%j", (words, expected) => {
    expect(reading(words, to, amount, json, memo)).toBe(expected)
  })

  it("the last one may take all that are left", () => {
    expect(reading(["a", "b", "--json", "c"], to, files, json)).toBe("to=a files=b json=true files=c")
    expect(reading(["a"], to, files, json)).toBe("FILE is missing: the FILE; see --help")
  })

  it("are not looked for in the environment", () => {
    const said = Effect.runSync(Words.fromEnvironment([to, files], []))
    expect(said).toEqual([])
  })
})

describe("amounts", () => {
  const read = (text: string) =>
    Effect.runSync(Effect.provide(Effect.option(Reader.positiveAmount(text)), NodeContext.layer))

  it("are coins, exact to the sat", () => {
    expect(["1", "0.00000001", "2.5", "21000000", "00.10"].map((text) => Option.getOrNull(read(text)))).toEqual([
      100_000_000, 1, 250_000_000, 2_100_000_000_000_000, 10_000_000,
    ])
  })

  it.each([
    "1e3",
    "-1",
    "+1",
    "0.000000001",
    ".5",
    "1.",
    "1,5",
    "1 000",
    "21000001",
    "0x1",
    "١",
    "１",
    "NaN",
    "",
    " 1",
    "0",
  ])("%j is none", (text) => {
    expect(Option.isNone(read(text))).toBe(true)
  })
})
