// Writes docs/left-out.md, the cases that `npm test` leaves to `npm run test:all`, from the marks in the tests; with --check
// says whether the page is up to date.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, resolve } from "node:path"
import { type ESTree, parseSync, Visitor } from "vite"

const root = resolve(import.meta.dirname, "..")
const PAGE = "docs/left-out.md"

interface Mark {
  readonly name: string
  readonly reason: string
  readonly isGroup: boolean
}

const isMark = (node: ESTree.Node | undefined): node is ESTree.CallExpression =>
  node?.type === "CallExpression" &&
  node.callee.type === "MemberExpression" &&
  node.callee.object.type === "Identifier" &&
  node.callee.object.name === "Rest" &&
  node.callee.property.type === "Identifier" &&
  node.callee.property.name === "of"

/** The marks of a file, in their order. A word that is no plain text there is shown as code. */
const marksIn = (file: string, source: string): ReadonlyArray<Mark> => {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const words = new Map<string, string>()
  const calls: Array<ESTree.CallExpression> = []
  const groups = new Set<ESTree.Node>()
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === "Identifier" && init?.type === "Literal" && typeof init.value === "string")
        words.set(id.name, init.value)
    },
    CallExpression(node) {
      const [first] = node.arguments
      if (isMark(first) && source.slice(node.callee.start, node.callee.end).startsWith("describe")) groups.add(first)
      if (isMark(node)) calls.push(node)
    },
  }).visit(program)
  const wordOf = (node: ESTree.Node | undefined): string => {
    if (node === undefined) throw new Error(`${file}: a mark without a reason or a name`)
    if (node.type === "Literal") return String(node.value)
    const code = source.slice(node.start, node.end)
    return (node.type === "Identifier" ? words.get(code) : undefined) ?? `\`${code.replaceAll("`", "")}\``
  }
  return calls.map((call) => ({
    reason: wordOf(call.arguments[0]),
    name: wordOf(call.arguments[1]),
    isGroup: groups.has(call),
  }))
}

const HEAD = `# Tests that npm test leaves out

\`npm test\` leaves these cases to \`npm run test:all\`, for the reason in brackets; see
[CONTRIBUTING.md](../CONTRIBUTING.md#what-npm-test-leaves-out). \`npx tsx scripts/left-out.ts\` writes this page from the marks in
the tests, and \`npm run check\` fails if it is out of date.
`

/** What Markdown would read as markup in the name of a case. */
const plain = (text: string): string =>
  text.startsWith("`") ? text : text.replaceAll(/\s+/g, " ").replaceAll(/[<*_[\]]/g, "\\$&")

const page = (): string => {
  const lines = [HEAD]
  let folder = ""
  const files = readdirSync(resolve(root, "test"), { recursive: true, encoding: "utf8" })
    .map((path) => `test/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts"))
    .sort((a, b) => (dirname(a) === dirname(b) ? (a < b ? -1 : 1) : dirname(a) < dirname(b) ? -1 : 1))
  for (const file of files) {
    const marks = marksIn(file, readFileSync(resolve(root, file), "utf8"))
    if (marks.length === 0) continue
    if (dirname(file) !== folder) lines.push(...(folder === "" ? [] : [""]), `## ${dirname(file)}\n`)
    folder = dirname(file)
    lines.push(`- \`${basename(file)}\``)
    for (const { name, reason, isGroup } of marks)
      lines.push(`  - ${isGroup ? "all of " : ""}${plain(name)} (${plain(reason)})`)
  }
  return `${lines.join("\n")}\n`
}

const current = page()
const file = resolve(root, PAGE)
if (!process.argv.includes("--check")) writeFileSync(file, current)
else if (readFileSync(file, "utf8") !== current) {
  console.error(`${PAGE} is not what the tests mark: npx tsx scripts/left-out.ts`)
  process.exit(1)
}
