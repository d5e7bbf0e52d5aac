// `npm run vectors`: generates docs/vectors/, with which clients in other languages can be checked without this code.
// With --check, writes nothing and fails with every outdated file.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { addresses, amounts, hashes, keys } from "./vectors/basics.js"
import { epochs, genesis, vertices } from "./vectors/consensus.js"
import { greeting } from "./vectors/greeting.js"
import { inclusion } from "./vectors/inclusion.js"
import { state } from "./vectors/state.js"
import { stateTrie } from "./vectors/stateTrie.js"
import { rejectedTransactions, transactions } from "./vectors/transactions.js"

const folder = resolve(import.meta.dirname, "../docs/vectors")

const files: Readonly<Record<string, unknown>> = {
  "hashes.json": hashes,
  "keys.json": keys,
  "addresses.json": addresses(),
  "amounts.json": amounts(),
  "transactions.json": transactions,
  "rejected-transactions.json": rejectedTransactions(),
  "genesis.json": genesis,
  "vertices.json": vertices,
  "epochs.json": epochs,
  "greeting.json": greeting(),
  "inclusion.json": inclusion(),
  "state.json": state,
  "state-trie.json": stateTrie,
}

const textOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const stored = (name: string): string | undefined => {
  try {
    return readFileSync(join(folder, name), "utf8")
  } catch {
    return undefined
  }
}

mkdirSync(folder, { recursive: true })
const stale = Object.entries(files).filter(([name, value]) => stored(name) !== textOf(value))
const unknown = readdirSync(folder).filter((name) => files[name] === undefined)

if (process.argv.includes("--check")) {
  for (const [name] of stale) console.error(`vectors: docs/vectors/${name} is stale; run: npm run vectors`)
  for (const name of unknown) console.error(`vectors: docs/vectors/${name} is made by nothing; remove it`)
  process.exit(stale.length + unknown.length === 0 ? 0 : 1)
}

for (const [name, value] of stale) writeFileSync(join(folder, name), textOf(value))
console.log(`vectors: ${stale.length} of ${Object.keys(files).length} files written`)
