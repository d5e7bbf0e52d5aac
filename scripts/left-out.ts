// Generates docs/left-out.md, the cases that `npm test` leaves to `npm run test:all`, from the marks in the tests. With
// --check, fails if the page is outdated.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { relative, resolve } from "node:path"
import { type ESTree, parseSync, Visitor } from "vite"

const root = resolve(import.meta.dirname, "..")
const PAGE = "docs/left-out.md"

/** A mark around a case or a group. */
interface Mark {
  readonly isGroup: boolean
}

const isMark = (node: ESTree.Node | undefined): node is ESTree.CallExpression =>
  node?.type === "CallExpression" &&
  node.callee.type === "MemberExpression" &&
  node.callee.object.type === "Identifier" &&
  node.callee.object.name === "Rest" &&
  node.callee.property.type === "Identifier" &&
  node.callee.property.name === "of"

const marksIn = (file: string, source: string): ReadonlyArray<Mark> => {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const calls: Array<ESTree.CallExpression> = []
  const groups = new Set<ESTree.Node>()
  new Visitor({
    CallExpression(node) {
      const [first] = node.arguments
      if (isMark(first) && source.slice(node.callee.start, node.callee.end).startsWith("describe")) groups.add(first)
      if (isMark(node)) calls.push(node)
    },
  }).visit(program)
  return calls.map((call) => ({ isGroup: groups.has(call) }))
}

const HEAD = `# Tests that npm test leaves out

\`npm test\` leaves cases of these files to \`npm run test:all\`: as many as the number says, or a whole group ("all"). The
marks in each file give the reasons ([CONTRIBUTING.md](../CONTRIBUTING.md#what-npm-test-leaves-out)).
\`UDG_TESTS=all npx vitest run FILE\` runs all cases of a file, and \`npx tsx scripts/left-out.ts\` writes this page.
`

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(resolve(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map(({ name }) => name)
    .sort()

const countOf = (marks: ReadonlyArray<Mark>): string =>
  marks.some(({ isGroup }) => isGroup) ? "all" : `${marks.length}`

const page = (): string => {
  const folders = readdirSync(resolve(root, "test"), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(root, resolve(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort()
  const lines = folders.flatMap((folder) => {
    const counted = filesIn(folder).flatMap((file) => {
      const marks = marksIn(file, readFileSync(resolve(root, folder, file), "utf8"))
      return marks.length === 0 ? [] : [`\`${file.replace(/(\.test)?\.ts$/, "")}\` (${countOf(marks)})`]
    })
    return counted.length === 0 ? [] : [`- \`${folder}\`: ${counted.join(", ")}`]
  })
  return `${HEAD}\n${lines.join("\n")}\n`
}

const current = page()
const file = resolve(root, PAGE)
if (!process.argv.includes("--check")) writeFileSync(file, current)
else if (readFileSync(file, "utf8") !== current) {
  console.error(`${PAGE} is not what the tests mark: npx tsx scripts/left-out.ts`)
  process.exit(1)
}
