import { expect, it } from "vitest"
import * as Problems from "../../src/node/reads/Problems.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { complaint } from "../docs/Pages.js"

const of = (component: string, reason: string): Problems.Found => ({
  component,
  status: "warning",
  reason,
  page: Problems.PAGES.lag,
})

const sinceOf = (problems: Problems.Problems, at: number, ...found: ReadonlyArray<Problems.Found>) =>
  problems.look(found, Natural.timestamp(at)).map(({ component, since }) => [component, since])

it("keeps a problem while its reason changes, and starts a new one once the part was healthy", () => {
  const problems = new Problems.Problems()
  expect(sinceOf(problems, 1, of("finality", "4 rounds"))).toEqual([["finality", 1]])
  expect(sinceOf(problems, 2, of("finality", "5 rounds"), of("network", "2 peers"))).toEqual([
    ["finality", 1],
    ["network", 2],
  ])
  expect(sinceOf(problems, 3, of("network", "2 peers"))).toEqual([["network", 2]])
  expect(sinceOf(problems, 4, of("finality", "4 rounds"))).toEqual([["finality", 4]])
})

it("links every problem to an existing section", () => {
  expect(Object.values(Problems.PAGES).flatMap((page) => complaint("README.md", page) ?? [])).toEqual([])
})
