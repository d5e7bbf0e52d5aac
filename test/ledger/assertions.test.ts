/**
 * Where the ledger may throw. A transaction, a piece of evidence, a heartbeat or a header that a decoder accepted must
 * never make it throw, so each assertion that a file uses is listed here with the reason why no input reaches its
 * failure. A new one in a file fails this test: handle the failure instead (`Sats.plus`, an `Either`), or name its
 * bound here.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"

const folder = resolve(import.meta.dirname, "../../src/ledger")

interface Entry {
  readonly forms: ReadonlyArray<string>
  readonly bound: string
}

const MONEY = "parts of one supply, which the supply check keeps at or below the maximum"
const STRUCTURE = "indexes and handles that only the ledger itself makes"
const LOOP = "places that a loop over the array, or a mask of its length, makes"

const allowed: { readonly [file: string]: Entry } = {
  "Ledger.ts": { forms: ["throw"], bound: "the consensus hands over commits in their order" },
  "Reads.ts": { forms: ["sumBounded"], bound: MONEY },
  "pending/PendingTransactions.ts": { forms: ["throw"], bound: STRUCTURE },
  "rules/Committee.ts": {
    forms: ["addBounded", "partBounded", "subtractBounded", "sumBounded"],
    bound:
      "stakes and pools are parts of one supply; carried weights add up to at most the last total, added ones to what is left",
  },
  "rules/Delegation.ts": { forms: ["getOrThrow"], bound: "the deposit was judged in the same state" },
  "rules/Governance.ts": {
    forms: ["addBounded", "make", "percent", "subtractBounded", "sumBounded"],
    bound:
      "weights of one snapshot are parts of one supply, and each votes once; percents and the bond are parameters within " +
      "their bounds",
  },
  "rules/Postings.ts": { forms: ["subtractBounded"], bound: "the treasury's part is a part of the fee" },
  "rules/Rewards.ts": {
    forms: ["addBounded", "make", "partBounded", "percent", "subtractBounded"],
    bound: "parts of what was minted; treasury and council get 50 and 30 percent at most",
  },
  "rules/Slashing.ts": { forms: ["addBounded", "percent", "subtractBounded", "sumBounded"], bound: MONEY },
  "rules/Staking.ts": {
    forms: ["addBounded"],
    bound: "the balance reached for the amount, so both are parts of one supply",
  },
  "rules/Transactions.ts": {
    forms: ["make", "subtractBounded"],
    bound: "the minimum fee and the price of an account, parameters; the fee was judged to hold the price",
  },
  "tables/AccountRows.ts": {
    forms: ["Element", "throw"],
    bound: "a row that was found or added: where there may be none, the type says so",
  },
  "tables/Accounts.ts": {
    forms: ["Element", "getOrThrowWith"],
    bound: "bytes that were encoded here; addresses, which are 40 hexadecimal digits",
  },
  "tables/AddressIndex.ts": { forms: ["Element"], bound: LOOP },
  "tables/Cells.ts": { forms: ["Element", "throw"], bound: STRUCTURE },
  "tables/Effects.ts": { forms: ["throw"], bound: "bytes that were encoded here" },
  "tables/HalfSipHash.ts": { forms: ["Element", "throw"], bound: "a key that this node drew; words that are there" },
  "tables/HashIndex.ts": { forms: ["Element", "throw"], bound: STRUCTURE },
  "tables/Journal.ts": { forms: ["Element"], bound: "entries that it numbered itself" },
  "tables/NameIndex.ts": { forms: ["throw"], bound: STRUCTURE },
  "tables/Order.ts": { forms: ["Element"], bound: LOOP },
  "tables/PackedRows.ts": { forms: ["getOrThrowWith"], bound: "bytes that were encoded here" },
  "tables/Pool.ts": {
    forms: ["addBounded", "make", "percent", "subtractBounded", "throw"],
    bound: "a worth is at most the pool's amount, a reward is minted below the cap, and shares held are the pool's",
  },
  "tables/State.ts": {
    forms: ["addBounded", "subtractBounded", "throw"],
    bound: "the balance was found to reach for what is taken; what is given was taken or minted before",
  },
  "tables/Supply.ts": { forms: ["addBounded", "subtractBounded"], bound: MONEY },
  "tables/UnlockQueue.ts": { forms: ["Element", "throw"], bound: STRUCTURE },
  "trie/Assembly.ts": { forms: ["throw"], bound: "subtrees that were checked against the root" },
  "trie/Batch.ts": { forms: ["Element", "throw"], bound: STRUCTURE },
  "trie/Leaf.ts": { forms: ["Element", "throw"], bound: STRUCTURE },
  "trie/Position.ts": { forms: ["Element"], bound: "a path of 32 bytes, and a depth below 256" },
  "trie/Span.ts": { forms: ["Element"], bound: "records of leaves and batches, which were encoded here or read whole" },
  "trie/TrieNode.ts": { forms: ["throw"], bound: STRUCTURE },
}

const ASSERTING = /\bSats\.(\w+Bounded|percent|make)\(|\b(getOrThrow\w*)\(|\b(Element)\.\w+\(|\b(throw)\b(?! to )/g

const formsOf = (source: string): ReadonlyArray<string> => {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
  return [
    ...new Set([...code.matchAll(ASSERTING)].map(([, ...forms]) => forms.find((form) => form !== undefined) ?? "")),
  ].sort()
}

describe("the ledger's assertions", () => {
  it("are exactly those listed here with their bounds", () => {
    const found = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => [file, formsOf(readFileSync(join(folder, file), "utf8"))] as const)
      .filter(([, forms]) => forms.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const expected = Object.entries(allowed).map(([file, { forms }]) => [file, forms])
    expect(found).toEqual(expected)
  })
})
