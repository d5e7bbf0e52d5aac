import { describe, expect, it } from "vitest"
import * as Search from "../../../src/explorer/search/Search.js"

const TX = "aa".repeat(32)
const VERTEX = "bb".repeat(32)

const ACCOUNT = "9f3c1a2b4d5e6f708192a3b4c5d6e7f8091a2b3c"
const WRITTEN = "tudg1nu7p526dtehhpqvj5w6vt4h8lqy352eud263hw"

const known: Search.Known = {
  transaction: async (hash) => hash === TX,
  vertex: async (hash) => hash === VERTEX,
  proposal: async (id) => Number(id) < 20,
  newestRound: () => 1_000,
  written: (address) => (address === ACCOUNT ? WRITTEN : address),
  labelled: (text) => [{ address: ACCOUNT, label: "my bank" }].filter(({ label }) => label.includes(text)),
  name: async (name) => name === "@alice" || name === "@cafe",
  beginningWith: async (text) => ({
    names: ["alfred", "alice", "alice-2", "cafe"]
      .filter((name) => name.startsWith(text.replace("@", "")))
      .map((name) => ({ name })),
    accounts: [ACCOUNT].filter((address) => address.startsWith(text) || WRITTEN.startsWith(text)),
    transactions: [TX, `abcd${"0".repeat(60)}`].filter((hash) => hash.startsWith(text)),
    vertices: [VERTEX, `abcd${"1".repeat(60)}`].filter((hash) => hash.startsWith(text)),
  }),
}

const labelsOf = (matches: ReadonlyArray<Search.Match>) => matches.map(({ kind, text }) => `${kind} ${text}`)

const leadsTo = async (typed: string): Promise<string> => {
  const found = await Search.find(typed, known)
  if (found._tag === "Several") return labelsOf(found.matches).join()
  return found._tag === "Page" ? found.href : `nothing: ${found.complaint}`
}

describe("the search box", () => {
  it.each([
    [TX.toUpperCase(), `/explorer/tx/${TX}`],
    [` ${VERTEX} `, `/explorer/vertex/${VERTEX}`],
    ["1204", "/explorer/round/1204"],
    ["1,204", "/explorer/round/1204"],
    ["AAAA", `/explorer/tx/${TX}`],
    [`bb`.repeat(31), `/explorer/vertex/${VERTEX}`],
    ["abcd", `Transaction abcd${"0".repeat(60)},Vertex abcd${"1".repeat(60)}`],
    ["cafe", "/explorer/address/@cafe"],
    ["#3", "/explorer/proposal/3"],
    ["tudg1nu7p5…d263hw", `/explorer/address/${ACCOUNT}`],
    ["tudg1nu7p526", `/explorer/address/${ACCOUNT}`],
    [`${TX.slice(0, 8)}…${TX.slice(-6)}`, `/explorer/tx/${TX}`],
    ["proposal 3", "/explorer/proposal/3"],
    ["Epoch 3", "/explorer/epoch/3"],
    ["@alice", "/explorer/address/@alice"],
    ["alf", "/explorer/address/@alfred"],
    ["@alic", "Name @alice,Name @alice-2"],
    ["Alice", "/explorer/address/@alice"],
    ["validators", "/explorer/validators"],
    ["9f3c1a2b4d5e6f708192a3b4c5d6e7f8091a2b3c", "/explorer/address/9f3c1a2b4d5e6f708192a3b4c5d6e7f8091a2b3c"],
    ["tudg1nu7p526dtehhpqvj5w6vt4h8lqy352eud263hw", "/explorer/address/tudg1nu7p526dtehhpqvj5w6vt4h8lqy352eud263hw"],
  ])("takes %j to %s", async (typed, path) => {
    expect(await leadsTo(typed)).toBe(path)
  })

  it.each([
    ["cc".repeat(32), `nothing: this node knows no transaction or vertex ${"cc".repeat(32)}`],
    ["@nobody", "nothing: @nobody is not registered"],
    ["fade", "nothing: this node knows nothing that begins with fade, and @fade is not registered"],
    ["fade".repeat(10).slice(1), `nothing: this node knows nothing that begins with ${"fade".repeat(10).slice(1)}`],
    ["what is this?", 'nothing: "what is this?" is not something this explorer can look up'],
  ])("explains that it did not find %j", async (typed, said) => {
    expect(await leadsTo(typed)).toBe(said)
  })

  it.each([
    ["", []],
    ["va", ["Page validators"]],
    ["bank", ["Label my bank"]],
    ["12", ["Round 12", "Proposal #12"]],
    ["#12", ["Proposal #12"]],
    ["100", ["Round 100"]],
    ["1001", []],
    ["@cafe", ["Name @cafe"]],
    ["tudg1nu7p526", [`Account ${WRITTEN}`]],
    ["tudg1nu7p52q", []],
    ["9f3c", [`Account ${WRITTEN}`]],
    ["@alic", ["Name @alice", "Name @alice-2"]],
    ["alf", ["Name @alfred"]],
    ["tudg1nu7p5…d263hw", [`Account ${WRITTEN}`]],
    ["tudg1nu7p5…d263hq", []],
    ["abcd", [`Transaction abcd${"0".repeat(60)}`, `Vertex abcd${"1".repeat(60)}`]],
    ["<script>", []],
  ])("suggests matches for %j", async (typed, labels) => {
    expect(labelsOf(await Search.suggest(typed, known))).toEqual(labels)
  })
})
