import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { root, textOf } from "./Pages.js"

const page = textOf("docs/walkthrough.md")

const source = (file: string): string => readFileSync(resolve(root, file), "utf8")

/** Whether the file declares a function or value of this name. A call does not count. */
const declares = (text: string, name: string): boolean =>
  new RegExp(
    `^ *(?:(?:export|const|function|async|static|readonly|get) |function\\* |\\*)*${name}(?:<[^\\n]*>)?(?:: | = ?|\\((?:[^\\n]*\\{)?$)`,
    "m",
  ).test(text)

/** A step: a file and the functions that run there. */
const steps = [...page.matchAll(/`(src\/[\w/.]+\.ts)`:((?:,?\s+`#?\w+`)+)/g)].flatMap(([, file = "", names = ""]) =>
  [...names.matchAll(/#?\w+/g)].map(([name]) => ({ file, name })),
)

const importsOf = (file: string): ReadonlyArray<string> =>
  [...source(file).matchAll(/from "(\.[^"]+)\.js"/g)].map(
    ([, specifier]) => `${join(dirname(file), `${specifier}`)}.ts`,
  )

interface Item {
  readonly files: ReadonlyArray<string>
  readonly hasHop: boolean
}

/** The items of each walk in order, by the walk's first words after the article. */
const walks: ReadonlyMap<string, ReadonlyArray<Item>> = new Map(
  [...page.matchAll(/^## An? ([\w ]+?)[:,][^\n]*\n([\s\S]*?)(?=^## |(?![\s\S]))/gm)].map(([, walk = "", text = ""]) => [
    walk,
    text
      .split(/^- /m)
      .slice(1)
      .map((item) => ({
        files: [...item.matchAll(/`(src\/[\w/.]+\.ts)`: `/g)].map(([, file = ""]) => file),
        hasHop: /\bhop\b/i.test(item),
      })),
  ]),
)

/** Files that no earlier file of the walk imports. With `between`, an import through one omitted file is enough. */
const leaps = (items: ReadonlyArray<Item>, between: boolean): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const near = new Set<string>()
  let mayHop = true
  return items.flatMap(({ files, hasHop }) => {
    const lost = files.filter((file) => {
      const isReached = mayHop || hasHop || near.has(file)
      for (const direct of seen.has(file) ? [] : importsOf(file)) {
        near.add(direct)
        if (between && existsSync(resolve(root, direct))) for (const next of importsOf(direct)) near.add(next)
      }
      near.add(file)
      seen.add(file)
      return !isReached
    })
    mayHop = hasHop
    return lost
  })
}

describe("docs/walkthrough.md", () => {
  it("goes from each file to one that it imports, except for marked hops", () => {
    expect([...walks.keys()]).toStrictEqual(["transfer", "balance", "error 410", "vertex"])
    const found = [...walks].map(([walk, items]) => [walk, leaps(items, walk === "transfer" || walk === "vertex")])
    expect(Object.fromEntries(found)).toStrictEqual({ transfer: [], balance: [], "error 410": [], vertex: [] })
  })

  it("answers a balance within twenty files", () => {
    expect(new Set(walks.get("balance")?.flatMap(({ files }) => files)).size).toBe(20)
  })

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

describe("the checker", () => {
  it("finds a file that no earlier file imports", () => {
    const [listener, router, reads] = [
      "src/edge/server/Listener.ts",
      "src/edge/server/Router.ts",
      "src/ledger/Reads.ts",
    ]
    const item = (file: string, hasHop = false) => ({ files: [file], hasHop })
    expect(leaps([item(listener), item(router), item(reads)], false)).toStrictEqual([reads])
    expect(leaps([item(listener), item(router, true), item(reads)], false)).toStrictEqual([])
    expect(leaps([item(router), item(listener)], false)).toStrictEqual([listener])
  })

  it("distinguishes a declaration from a call", () => {
    const text =
      "  start(at: Round): void {\n    tick(at)\n  }\n  readonly #work = () => {}\n  get: (id) => id,\n  #open(\n    at: Round,\n  ): void {}\n"
    const found = ["start", "tick", "#work", "work", "get", "#open"].filter((name) => declares(text, name))
    expect(found).toStrictEqual(["start", "#work", "get", "#open"])
  })
})
