/** The order of the site's pages. Paths are those of the repository. */

export interface Group {
  readonly title: string
  readonly pages: ReadonlyArray<string>
}

const docs = (...names: ReadonlyArray<string>): ReadonlyArray<string> => names.map((name) => `docs/${name}.md`)

/** Pages without a file, generated from the code. */
export const COMMANDS = "docs/commands.md"
export const ENDPOINTS = "docs/endpoints.md"
export const METRICS = "docs/metrics.md"

/** A folder is a page that lists its content. */
export const DECISIONS = "docs/decisions"
export const VECTORS = "docs/vectors"

/** Four kinds: tutorials, guides, reference and explanation. */
export const contents: ReadonlyArray<Group> = [
  { title: "Start", pages: ["README.md"] },
  {
    title: "Tutorials",
    pages: docs(
      ...["getting-started", "tutorials/wallet", "tutorials/validator", "tutorials/consortium", "tutorials/embedding"],
    ),
  },
  {
    title: "Guides: use and build",
    pages: docs("cli", "explorer", "client", "api", "languages", "dev", "light-client"),
  },
  {
    title: "Guides: operate",
    pages: docs(
      ...[
        "operations",
        "operations/install",
        "operations/join",
        "parameters",
        "operations/keys",
        "operations/signer",
        "operations/tls",
      ],
      ...["operations/monitoring", "operations/alerts", "operations/doctor", "operations/backup"],
      ...["operations/sizing", "operations/upgrade", "operations/archive", "operations/gateway", "operations/limits"],
      ...["operations/soak"],
      ...["operations/exit-100", "operations/exit-101", "operations/exit-102"],
    ),
  },
  {
    title: "Reference",
    pages: [
      ...[COMMANDS, ...docs("configuration"), ENDPOINTS, ...docs("errors"), METRICS, ...docs("glossary", "versioning")],
      ...[...docs("protocol", "state-trie"), VECTORS],
    ],
  },
  {
    title: "Explanation",
    pages: docs(
      ...["concepts", "coming-from", "faq", "economics", "governance", "threat-model", "security", "architecture"],
      ...["walkthrough", "consensus", "fetching", "ledger", "storage", "recovery", "performance"],
      ...["simulation", "vigil"],
    ),
  },
  { title: "Contributing", pages: ["CONTRIBUTING.md", "docs/left-out.md", DECISIONS] },
]
