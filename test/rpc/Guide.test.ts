/** Runs every example of the guide to the HTTP API as it is printed. */
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { transformSync } from "esbuild"
import { describe, expect, it } from "vitest"
import * as Curl from "../docs/Curl.js"
import { forTests } from "../support/forTests.js"
import * as Rest from "../support/Rest.js"
import * as Stranger from "../testing/Stranger.js"
import * as RealNode from "./RealNode.js"

const pageAt = (file: string): string => readFileSync(join(resolve(import.meta.dirname, "../.."), file), "utf8")
const ADDRESS = "http://127.0.0.1:10333"

interface Block {
  readonly language: string
  readonly text: string
  /** The paragraph that follows the example. */
  readonly behind: string
}

const blocksOf = (page: string): ReadonlyArray<Block> =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```(?=\n\n([^\n]*))/gms)].map(([, language = "", text = "", behind = ""]) => ({
    language,
    text,
    behind,
  }))

const blocks = ["docs/client.md", "docs/api.md", "docs/tutorials/embedding.md"].flatMap((page) =>
  blocksOf(pageAt(page)),
)
const isProgram = ({ language }: Block): boolean => language === "ts"

/** The names of an object's fields with their kinds. */
const shapeOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
    : typeof value

const node = forTests(() => RealNode.start())

describe("the guide", () => {
  const requests = blocks.flatMap((block, i) => (block.language === "sh" ? [{ block, answer: blocks[i + 1] }] : []))
  const programs = blocks.filter(isProgram)

  it("has an answer for each request and the output of each program", () => {
    expect(requests.length).toBeGreaterThanOrEqual(4)
    expect(programs.length).toBeGreaterThanOrEqual(4)
    expect(requests.map(({ answer }) => answer?.language)).toEqual(requests.map(() => "json"))
  })

  it.each(requests)("$block.text", async ({ block, answer }) => {
    const { url, init } = Curl.parse(block.text.trim())
    const response = await fetch(url.replace(ADDRESS, node().url), init)
    expect(shapeOf(await response.json())).toEqual(shapeOf(JSON.parse(answer?.text ?? "")))
  })

  const printsWhatItSays = async ({ text, behind }: (typeof programs)[number]): Promise<void> => {
    const [, printed = "nothing"] = /^prints `([^`]+)`/.exec(behind) ?? []
    const { code } = transformSync(text.replaceAll(ADDRESS, node().url), { loader: "ts", format: "esm" })
    expect(await Stranger.run(code)).toEqual({ code: 0, said: `${printed}\n` })
  }
  const startsANode = ({ text }: (typeof programs)[number]): boolean => text.includes("startNode")
  it.each(programs.filter((program) => !startsANode(program)))("$text", printsWhatItSays)
  it.each(programs.filter(startsANode))(Rest.of("a node for each", "$text"), printsWhatItSays)

  const compiles = async (resolution: "nodenext" | "bundler"): Promise<void> => {
    const others = blocksOf(pageAt("docs/light-client.md")).filter(isProgram)
    expect(others.length).toBeGreaterThanOrEqual(1)
    const texts = [...programs, ...others].map(({ text }) => text)
    expect(await Stranger.compile(texts, resolution)).toEqual({ code: 0, said: "" })
  }
  // All at once, since loading the package's types takes longer than checking the programs.
  const COMPILES = "has programs, as the light client's page has, that compile strictly with the modules of"
  it.each(["nodenext", "bundler"] as const)(Rest.of("the compiler", `${COMPILES} %s`), compiles, 240_000)
})
