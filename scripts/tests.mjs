// Checks that tests are where one looks for them. Tests of src/FOLDER are in test/FOLDER, and a test named like a file
// of src is about that file. The other folders of test/ are about the whole program and listed here.
import { readdirSync } from "node:fs"
import { basename, dirname } from "node:path"

/** Tests that are not about one folder of src/. */
const rooms = {
  bench: "the benches, and work that is counted instead of timed",
  blackbox: "the built program as an operator uses it",
  browser: "the built pages in a real browser",
  conformance: "every endpoint of the HTTP interface",
  docs: "what the pages say",
  document: "a second implementation, by the pages alone",
  edges: "values at the edges, for all others",
  fuzz: "messages for a whole replica",
  histories: "what clients of nodes were told, judged by rules that know nothing of the program",
  ops: "the files in ops/",
  scripts: "the scripts",
  simulation: "whole networks on a virtual clock",
  spec: "the model in docs/spec, and the program beside it",
  support: "what tests share",
  virtual: "whole nodes on virtual time, and histories of them",
}

const under = (folder) => readdirSync(folder, { recursive: true }).map((path) => path.replaceAll("\\", "/"))

const folderOf = (path) => path.split("/")[0]

/** The folders of src/ that have a file of each name, without ending. */
const homes = new Map()
for (const path of under("src").filter((path) => /\.tsx?$/.test(path))) {
  const name = basename(path).replace(/\.tsx?$/, "")
  homes.set(name, [...(homes.get(name) ?? []), folderOf(path)])
}
const folders = new Set([...homes.values()].flat())

const complaint = (path) => {
  const folder = folderOf(path)
  if (folder in rooms || dirname(path) === ".") return undefined
  if (!folders.has(folder)) return `src/ has no folder ${folder}`
  const homesOfName = homes.get(basename(path, ".test.ts"))
  if (homesOfName === undefined || homesOfName.includes(folder)) return undefined
  return `named like a file of src/${homesOfName.join(", src/")}; move it to that folder of test/, or name it after what it is about`
}

const wrong = under("test")
  .filter((path) => path.endsWith(".test.ts"))
  .flatMap((path) => complaint(path)?.replace(/^/, `tests: test/${path}: `) ?? [])
for (const line of wrong) console.error(line)
process.exit(wrong.length === 0 ? 0 : 1)
