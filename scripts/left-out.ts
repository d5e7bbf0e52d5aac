// Generates docs/left-out.md, the cases that `npm test` leaves to `npm run test:all`, from the marks in the tests. With
// --check, fails if the page is outdated.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { relative, resolve } from "node:path"
import { type ESTree, parseSync, Visitor } from "vite"

const root = resolve(import.meta.dirname, "..")
const PAGE = "docs/left-out.md"

const isMark = (node: ESTree.CallExpression): boolean =>
  node.callee.type === "MemberExpression" &&
  node.callee.object.type === "Identifier" &&
  node.callee.object.name === "Rest" &&
  node.callee.property.type === "Identifier" &&
  node.callee.property.name === "of"

const hasMark = (file: string, source: string): boolean => {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  let isFound = false
  new Visitor({
    CallExpression(node) {
      isFound ||= isMark(node)
    },
  }).visit(program)
  return isFound
}

const HEAD = `# Tests that npm test leaves out

\`npm test\` leaves cases of these files, or all of them, to \`npm run test:all\`. The marks in each file give the
reasons ([CONTRIBUTING.md](../CONTRIBUTING.md#what-npm-test-leaves-out)).
\`UDG_TESTS=all npx vitest run FILE\` runs all cases of a file, and \`npx tsx scripts/left-out.ts\` writes this page.
`

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(resolve(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map(({ name }) => name)
    .sort()

const page = (): string => {
  const folders = readdirSync(resolve(root, "test"), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(root, resolve(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort()
  const lines = folders.flatMap((folder) => {
    const marked = filesIn(folder).flatMap((file) => {
      const isMarked = hasMark(file, readFileSync(resolve(root, folder, file), "utf8"))
      return isMarked ? [`\`${file.replace(/(\.test)?\.ts$/, "")}\``] : []
    })
    return marked.length === 0 ? [] : [`- \`${folder}\`: ${marked.join(", ")}`]
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
