/** `llms.txt`: what a coding assistant should know first, and links to the rest as Markdown. See llmstxt.org. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { COMMANDS, contents, ENDPOINTS, METRICS } from "./Contents.js"
import { type Page, summaryOf } from "./Markdown.js"

const root = join(import.meta.dirname, "../..")

export const FILE = "docs/llms.txt"

const INTRODUCTION = `# udg

> A node for a DAG-based ledger network with coins, staking, governance and names. Programs talk to it with JSON over HTTP, or with the
> typed client \`udg-client\`. Transactions are final within a few rounds.

- Amounts are integers in sats: 1 coin = 100,000,000 sats. Keep them out of floating-point numbers.
- An account is named by 40 hex characters, by bech32m (\`tudg1…\` on testnets, \`udg1…\` on mainnets) or by a registered \`@name\`.
- For development run \`udg dev\`: accounts with coins, a payment is final at once, and controls over time and balances.
- Errors are \`{code, error}\` with fields that say more. Programs decide by \`code\`.
- A running node serves this list at \`/llms.txt\`, each page at the path given here, and its OpenAPI document at \`/openapi.json\`.
`

/** Files and folders that the package leaves out, and pages generated for the site only. */
const unpublished = (): ReadonlyArray<string> => {
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly files: ReadonlyArray<string>
  }
  const excluded = files.filter((file) => file.startsWith("!")).map((file) => file.slice(1))
  return [...excluded, COMMANDS, METRICS, "CONTRIBUTING.md"]
}

export const text = (pages: ReadonlyMap<string, Page>): string => {
  const left = unpublished()
  const isLeftOut = (file: string) => left.some((name) => file === name || file.startsWith(`${name}/`))
  const line = (file: string): ReadonlyArray<string> => {
    const page = pages.get(file)
    if (page === undefined || isLeftOut(file) || !file.endsWith(".md")) return []
    const about =
      file === ENDPOINTS ? "Every endpoint and every schema, made from the OpenAPI document." : summaryOf(page)
    return [`- [${page.title}](${file})${about === "" ? "" : `: ${about}`}`]
  }
  return contents
    .map(({ title, pages }) => [title, pages.flatMap(line)] as const)
    .filter(([, lines]) => lines.length > 0)
    .reduce((text, [title, lines]) => `${text}\n## ${title}\n\n${lines.join("\n")}\n`, INTRODUCTION)
}
