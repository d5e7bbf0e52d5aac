/**
 * `npm run test:mutations`: mutates the program in one place after the other and runs the tests that reach it. A mutant
 * that no test notices survives. Arguments select files or folders below `src`: `npm run test:mutations --
 * consensus/dag replica/joining/Histories.ts`. CONTRIBUTING.md explains the result.
 */
import type { MutantResult } from "@stryker-mutator/api/core"
import { judge } from "./mutations/Mutants.js"
import { type Subject, subjects } from "./mutations/Subjects.js"

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** The selected part of a subject: all of it by its name or a parent folder, or single files and folders. */
const chosenOf = ({ paths }: Subject, named: ReadonlyArray<string>): ReadonlyArray<string> =>
  paths.flatMap((path) =>
    named.length === 0 || named.some((name) => isWithin(path, name))
      ? [path]
      : named.filter((name) => isWithin(name, path)),
  )

/** The report's name, from the first of its files and folders. */
const nameOf = ({ paths: [first = ""] }: Subject): string => first.replace(/\.ts$/, "").replaceAll("/", "-")

interface Score {
  readonly noticed: number
  readonly survivors: number
}

/** By file, without mutants that were not tried. */
const scoresOf = (results: ReadonlyArray<MutantResult>): ReadonlyMap<string, Score> => {
  const scores = new Map<string, Score>()
  for (const { fileName, status } of results) {
    const { noticed, survivors } = scores.get(fileName) ?? { noticed: 0, survivors: 0 }
    if (status === "Killed" || status === "Timeout") scores.set(fileName, { noticed: noticed + 1, survivors })
    if (status === "Survived" || status === "NoCoverage") scores.set(fileName, { noticed, survivors: survivors + 1 })
  }
  return scores
}

/** A row of the printed table: mutants, percentage noticed, survivors. */
const row = ([file, { noticed, survivors }]: readonly [string, Score]): string => {
  const mutants = noticed + survivors
  return `| \`${file.replace(/^.*\bsrc\//, "")}\` | ${mutants} | ${((100 * noticed) / mutants).toFixed(1)} | ${survivors} |`
}

const named = process.argv.slice(2)
const chosen = subjects.flatMap((subject) => {
  const paths = chosenOf(subject, named)
  return paths.length === 0 ? [] : [{ subject, paths }]
})
if (chosen.length === 0) {
  console.error(
    `${named.join(" ")}: nothing of what is mutated, which is ${subjects.flatMap(({ paths }) => paths).join(", ")}`,
  )
  process.exitCode = 2
}
const rows: Array<string> = []
for (const { subject, paths } of chosen) {
  const results = await judge({
    mutate: paths.map((path) => (path.endsWith(".ts") ? `src/${path}` : `src/${path}/**/*.ts`)),
    tests: subject.tests.map((test) => `test/${test}.test.ts`),
    report: `reports/mutations/${nameOf(subject)}.json`,
  })
  rows.push(...[...scoresOf(results)].map(row))
}
console.log(["| file | mutants | noticed, % | survivors |", "| - | - | - | - |", ...rows].join("\n"))
