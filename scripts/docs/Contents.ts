/** In which order the site shows the pages. Paths are those of the repository. */

export interface Group {
  readonly title: string
  readonly pages: ReadonlyArray<string>
}

const docs = (...names: ReadonlyArray<string>): ReadonlyArray<string> => names.map((name) => `docs/${name}.md`)

/** Pages that have no file: they are made from the code. */
export const COMMANDS = "docs/commands.md"
export const ENDPOINTS = "docs/endpoints.md"

/** A folder is a page that lists what lies in it. */
export const DECISIONS = "docs/decisions"
export const VECTORS = "docs/vectors"

export const contents: ReadonlyArray<Group> = [
  { title: "Start", pages: ["README.md", ...docs("getting-started", "concepts")] },
  {
    title: "Tutorials",
    pages: docs("tutorials/wallet", "tutorials/validator", "tutorials/consortium", "tutorials/embedding"),
  },
  { title: "Use and build", pages: docs("cli", "explorer", "client", "api", "languages", "dev", "light-client") },
  {
    title: "Run",
    pages: docs(
      ...["operations", "operations/install", "operations/join", "operations/keys", "operations/tls"],
      ...[
        "operations/monitoring",
        "operations/alerts",
        "operations/doctor",
        "operations/backup",
        "operations/upgrade",
        "versioning",
      ],
      ...["operations/archive", "operations/gateway", "operations/soak"],
      ...["operations/exit-100", "operations/exit-101", "operations/exit-102"],
    ),
  },
  {
    title: "Reference",
    pages: [COMMANDS, ...docs("configuration"), ENDPOINTS, ...docs("protocol", "state-trie"), VECTORS],
  },
  {
    title: "Understand",
    pages: docs(
      ...["architecture", "walkthrough", "consensus", "ledger", "storage", "recovery", "economics", "governance"],
      ...["security", "performance", "scale", "simulation", "mutations"],
    ),
  },
  { title: "Change", pages: ["CONTRIBUTING.md", "docs/left-out.md", DECISIONS] },
]
