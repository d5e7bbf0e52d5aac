/** The figures in docs/operations/sizing.md follow by its formulas from what the suites have recorded. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import * as Needs from "../../bench/Needs.js"
import * as Record from "../../bench/Record.js"
import { textOf as opsTextOf } from "../ops/Kit.js"
import { root, textOf } from "./Pages.js"

const PAGE = "docs/operations/sizing.md"
const record = Record.read()

const BLOCKS = /^```\n[\s\S]*?^```$/gm

/** UDG_REWRITE_DOCS=1 writes the tables into the page. */
if (process.env["UDG_REWRITE_DOCS"] === "1") {
  const tables = [...Needs.tables(record)]
  const text = textOf(PAGE).replace(BLOCKS, (block) => tables.shift() ?? block)
  writeFileSync(join(root, PAGE), text)
}

describe(PAGE, () => {
  it("has what validators, an archive and a gateway take, by the formulas and the recorded constants", () =>
    expect(textOf(PAGE).match(BLOCKS)).toStrictEqual(Needs.tables(record)))

  it("has the other recorded figures", () => {
    const page = textOf(PAGE).replace(/\s+/g, " ")
    expect(Needs.sentences(record).filter((sentence) => !page.includes(sentence))).toEqual([])
  })
})

it("the manifests for Kubernetes request enough for thirty validators, as they say", () => {
  const manifest = opsTextOf("kubernetes/node/statefulset.yaml")
  const [, cpu, memory] = /requests: \{ cpu: "(\d+)", memory: (\d+)Gi \}/.exec(manifest) ?? []
  const [, storage] = /requests: \{ storage: (\d+)Gi \}/.exec(manifest) ?? []
  const needs = Needs.needsOf(Needs.constantsOf(record), { validators: 30, transfers: 1_000, roundMs: 100 })
  expect(Number(cpu)).toBeGreaterThan(needs.cores)
  expect(Number(memory) * 1_024).toBeGreaterThan(needs.memoryMiB)
  expect((Number(storage) * 2 ** 30) / 1e9).toBeGreaterThan(1.5 * needs.leanGB)
})
