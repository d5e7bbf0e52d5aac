import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { root, textOf } from "./Pages.js"

const page = textOf("docs/walkthrough.md")

const source = (file: string): string => readFileSync(resolve(root, file), "utf8")

/** Whether the file declares a function or value of this name: to call it is not enough. */
const declares = (text: string, name: string): boolean =>
  new RegExp(
    `^ *(?:(?:export|const|function|async|static|readonly|get) |function\\* |\\*)*${name}(?:<[^\\n]*>)?(?:: | = ?|\\((?:[^\\n]*\\{)?$)`,
    "m",
  ).test(text)

/** A step: a file and the functions that run there. */
const steps = [...page.matchAll(/`(src\/[\w/.]+\.ts)`:((?:,?\s+`#?\w+`)+)/g)].flatMap(([, file = "", names = ""]) =>
  [...names.matchAll(/#?\w+/g)].map(([name]) => ({ file, name })),
)

describe("docs/walkthrough.md", () => {
  it("names files and folders that exist", () => {
    const named = [...page.matchAll(/`(src\/[^`]+)`/g)].map(([, path = ""]) => path)
    expect(named.length).toBeGreaterThan(60)
    expect(named.filter((path) => !existsSync(resolve(root, path)))).toStrictEqual([])
  })

  it("begins each step with a file and its functions", () => {
    const items = page.match(/^- .+/gm) ?? []
    expect(items.length).toBeGreaterThan(50)
    expect(items.filter((item) => !/^- `src\/[\w/.]+\.ts`: `/.test(item))).toStrictEqual([])
  })

  it("names functions that their files declare", () => {
    expect(steps.length).toBeGreaterThan(100)
    expect(
      steps.filter(({ file, name }) => !declares(source(file), name)).map(({ file, name }) => `${file} ${name}`),
    ).toStrictEqual([])
  })
})

describe("the check itself", () => {
  it("tells a declaration from a call", () => {
    const text =
      "  start(at: Round): void {\n    tick(at)\n  }\n  readonly #work = () => {}\n  get: (id) => id,\n  #open(\n    at: Round,\n  ): void {}\n"
    const found = ["start", "tick", "#work", "work", "get", "#open"].filter((name) => declares(text, name))
    expect(found).toStrictEqual(["start", "#work", "get", "#open"])
  })
})
