import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import * as Reader from "../../src/cli/settings/Reader.js"
import * as Setting from "../../src/cli/settings/Setting.js"
import * as Words from "../../src/cli/settings/Words.js"

const option = Setting.group("g")
const to = Setting.argument("TO", "the TO", Reader.text)
const amount = Setting.optionalArgument("AMOUNT", "the AMOUNT", Reader.text)
const files = Setting.remainingArguments("FILE", "the FILE", Reader.text)
const json = option.flag("--json", "JSON")
const memo = option.optional("--memo TEXT", "the memo", Reader.text)

const reading = (words: ReadonlyArray<string>, ...settings: ReadonlyArray<Setting.Setting<unknown>>) =>
  Either.match(Words.parse(words, settings), {
    onLeft: ({ message }) => message,
    onRight: (said) => said.map(({ setting, value }) => `${setting.name}=${value}`).join(" "),
  })

describe("arguments", () => {
  it.each([
    [["a", "1"], "TO=a AMOUNT=1"],
    [["a"], "TO=a"],
    [["--json", "a", "1"], "json=true TO=a AMOUNT=1"],
    [["a", "--json", "true"], "TO=a json=true AMOUNT=true"],
    [["--json=false", "a"], "json=false TO=a"],
    [["--memo", "m", "a"], "memo=m TO=a"],
    [["a", "-1"], "TO=a AMOUNT=-1"],
    [["--", "--json", "-x"], "TO=--json AMOUNT=-x"],
    [["--json", "--", "a"], "json=true TO=a"],
    [[], "TO is missing: the TO; see --help"],
    [["a", "1", "2"], '"2" is one argument too many; see --help'],
    [["a", "--to", "b"], '"--to" is not an option; see --help for all options'],
    [["a", "--memo"], "--memo needs a value, but nothing follows; write --memo TEXT"],
  ])("%j", (words, expected) => {
    expect(reading(words, to, amount, json, memo)).toBe(expected)
  })

  it.each([
    ["--port", "did you mean --rpc-port? See --help"],
    ["--prot", "see --help for all options"],
    ["--rpc-prot", "did you mean --rpc-port? See --help"],
    ["-p", "see --help for all options"],
  ])("suggest a completion for the unknown option %s", (word, hint) => {
    const ports = ["--rpc-port PORT", "--control-port PORT"].map((term) => option.optional(term, "a port", Reader.text))
    expect(reading([word, "1"], ...ports)).toBe(`"${word}" is not an option; ${hint}`)
  })

  it("collect all the remaining words in the last one", () => {
    expect(reading(["a", "b", "--json", "c"], to, files, json)).toBe("TO=a FILE=b json=true FILE=c")
    expect(reading(["a"], to, files, json)).toBe("FILE is missing: the FILE; see --help")
  })

  it("are not looked up in the environment", () => {
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
  ])("reject %j", (text) => {
    expect(Option.isNone(read(text))).toBe(true)
  })
})
