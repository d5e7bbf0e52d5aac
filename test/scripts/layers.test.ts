import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { beforeEach, describe, expect, it } from "vitest"
import { borrowed, cycles, violations } from "../../scripts/layers.mjs"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

/** A tree of the given files and contents. */
const house = (root: string, files: Readonly<{ [path: string]: string }>): string => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

const importing = (specifier: string) => `import * as It from "${specifier}"\nexport const it = It\n`

describe("the layering rule", () => {
  let root = ""
  beforeEach(() => {
    root = TemporaryFolder.forTest("layers")
  })

  it("holds for this repository", () => {
    expect(violations(resolve(import.meta.dirname, "../../src"))).toEqual([])
    expect(cycles(resolve(import.meta.dirname, "../../src"))).toEqual([])
  })

  it("keeps the document client independent of everything here", () => {
    expect(borrowed(resolve(import.meta.dirname, "../document"))).toEqual([])
    const files = {
      "Good.ts": `${importing("./Bytes.js")}${importing("node:crypto")}${importing("@noble/hashes/sha2.js")}`,
      "Good.test.ts": importing("../../src/protocol/identity/Hash.js"),
      "Ours.ts": importing("../../src/protocol/identity/Hash.js"),
      "Alias.ts": importing("#crypto"),
      "Package.ts": importing("udg-node/client"),
      "Beside.ts": importing("../conformance/TestNode.js"),
      "Down.ts": importing("./../../src/main.js"),
      "Computed.ts": "export const it = (name) => import(name)\n",
    }
    expect(borrowed(house(root, files)).map((line) => line.split(" ")[0])).toEqual([
      "test/document/Alias.ts",
      "test/document/Beside.ts",
      "test/document/Computed.ts",
      "test/document/Down.ts",
      "test/document/Ours.ts",
      "test/document/Package.ts",
    ])
  })

  it("finds import cycles, even of types alone", () => {
    const files = {
      "ledger/A.ts": importing("./B.js"),
      "ledger/B.ts": `export { it } from "./deep/C.js"\n`,
      "ledger/deep/C.ts": importing("../A.js"),
      "ledger/D.ts": `import type { E } from "./E.js"\nexport const d: E = 1\n`,
      "ledger/E.ts": `${importing("./D.js")}export type E = number\n`,
      "ledger/F.ts": importing("./F.js"),
      "ledger/G.ts": `export type G = import("./H.js").H\n`,
      "ledger/H.ts": `export type { G } from "./G.js"\nexport type H = number\n`,
    }
    expect(cycles(house(root, files))).toEqual([
      "src/ledger/A.ts imports ledger/B.ts imports ledger/deep/C.ts imports ledger/A.ts",
      "src/ledger/D.ts imports ledger/E.ts imports ledger/D.ts",
      "src/ledger/F.ts imports ledger/F.ts",
      "src/ledger/G.ts imports ledger/H.ts imports ledger/G.ts",
    ])
  })

  it("allows the arrows of docs/architecture.md", () => {
    const files = {
      "effect3/schema/Codec.ts": `import { SchemaAST } from "effect"\nexport const of = (a) => SchemaAST.isUnion(a.ast)\n`,
      "protocol/numbers/Sats.ts": "export const zero = 0\n",
      "protocol/encoding/Json.ts": importing("../../effect3/schema/Codec.js"),
      "protocol/crypto/Native.ts": importing("node:crypto") + importing("sodium-native"),
      "ledger/State.ts": importing("../protocol/numbers/Sats.js") + importing("./Accounts.js") + importing("effect"),
      "consensus/Dag.ts": importing("../protocol/numbers/Sats.js") + importing("../collections/Heap.js"),
      "ledger/tables/Rows.ts": importing("../trie/Trie.js"),
      "network/Codec.ts": importing("../replica/messages/Message.js"),
      "storage/Commits.ts": importing("../consensus/Dag.js") + importing("@effect/sql"),
      "node/Mempool.ts": importing("../storage/Commits.js") + importing("../network/Network.js"),
      "rpc/api/Core.ts": importing("../../protocol/numbers/Sats.js") + importing("./Staking.js"),
      "rpc/handlers/Core.ts": importing("../../node/Mempool.js") + importing("../api/Core.js") + importing("node:http"),
      "client/Client.ts": importing("../rpc/api/Api.js") + importing("../protocol/numbers/Sats.js"),
      "cli/Node.ts": importing("../rpc/handlers/Core.js") + importing("../node/Mempool.js"),
      "main.ts": importing("./cli/Node.js"),
    }
    expect(violations(house(root, files))).toEqual([])
  })

  it.each([
    ["protocol/numbers/Sats.ts", "../../ledger/State.js", "protocol/ may import only: effect3/schema"],
    ["ledger/State.ts", "../consensus/Dag.js", "ledger/ may import only: protocol, collections"],
    ["consensus/Dag.ts", "../ledger/State.js", "consensus/ may import only: protocol, collections"],
    ["ledger/tables/Rows.ts", "../rules/Staking.js", "the rooms of ledger/ are, lowest first: trie, tables, rules, "],
    ["network/Codec.ts", "../replica/Replica.js", "network/ may import only"],
    ["storage/Commits.ts", "../node/Mempool.js", "storage/ may import only"],
    ["network/Peer.ts", "../storage/Commits.js", "network/ may import only"],
    ["node/Mempool.ts", "../rpc/handlers/Core.js", "node/ may import only"],
    ["node/Mempool.ts", "../cli/Node.js", "node/ may import only"],
    ["rpc/handlers/Core.ts", "../../storage/Commits.js", "rpc/ may import only"],
    ["rpc/api/Core.ts", "../../node/Mempool.js", "rpc/api/ may import only: effect3/http, protocol"],
    ["rpc/api/Core.ts", "../handlers/Core.js", "the rooms of rpc/ are, lowest first: api, "],
    ["client/Client.ts", "../ledger/State.js", "client/ may import only: effect3, protocol, rpc/api"],
    ["client/Client.ts", "../rpc/handlers/Core.js", "client/ may import only: effect3, protocol, rpc/api"],
    ["explorer/Page.ts", "../node/Mempool.js", "explorer/ may import only: protocol, client"],
    ["cli/Node.ts", "../main.js", "cli/ may import only"],
    ["node/Mempool.ts", "../../test/builders.js", "outside src/"],
  ])("src/%s must not import %s", (path, specifier, complaint) => {
    const [line, ...others] = violations(house(root, { [path]: importing(specifier) }))
    expect(others).toEqual([])
    expect(line).toContain(`src/${path} imports `)
    expect(line).toContain(complaint)
  })

  it.each([
    ["protocol/numbers/Sats.ts", "node:crypto", "protocol/"],
    ["protocol/numbers/Sats.ts", "prom-client", "protocol/"],
    ["protocol/numbers/Sats.ts", "effect/Clock", "protocol/"],
    ["protocol/numbers/Sats.ts", "udg-node/client", "protocol/"],
    ["protocol/numbers/Sats.ts", "sodium-native", "protocol/"],
    ["protocol/crypto/Portable.ts", "sodium-native", "protocol/crypto/"],
    ["protocol/crypto/Native.ts", "node:fs", "protocol/crypto/Native.ts"],
    ["ledger/State.ts", "node:fs", "ledger/"],
    ["ledger/State.ts", "udg-node/wallet", "ledger/"],
    ["consensus/Dag.ts", "@effect/platform-node", "consensus/"],
    ["storage/Commits.ts", "node:process", "storage/"],
    ["network/Peer.ts", "node:http", "network/"],
    ["node/Mempool.ts", "better-sqlite3", "node/"],
    ["node/Mempool.ts", "node:process", "node/"],
    ["rpc/handlers/Core.ts", "@effect/sql", "rpc/"],
    ["rpc/api/Core.ts", "@effect/sql", "rpc/api/"],
    ["rpc/api/Core.ts", "node:buffer", "rpc/api/"],
    ["client/Client.ts", "node:http", "client/"],
    ["explorer/Page.ts", "better-sqlite3", "explorer/"],
    ["cli/Node.ts", "udg-node/client", "cli/"],
    ["main.ts", "#other", "main/"],
  ])("src/%s must not import %s, which is not listed for %s", (path, specifier, place) => {
    const [line, ...others] = violations(house(root, { [path]: importing(specifier) }))
    expect(others).toEqual([])
    expect(line).toContain(`src/${path} imports ${specifier}, but ${place} may import only: `)
  })

  it.each([
    'export { it } from "../node/Mempool.js"\n',
    'export * from "../node/Mempool.js"\n',
    'import type { It } from "../node/Mempool.js"\n',
    'import {\n  one,\n  two,\n} from "../node/Mempool.js"\n',
    'import "../node/Mempool.js"\n',
    'const it = await import("../node/Mempool.js")\n',
    'type It = import("../node/Mempool.js").It\n',
    'import /* it */ { it } from /* there */ "../node/Mempool.js"\n',
    'import {\n  // what\'s "it"?\n  it,\n} from "../node/Mempool.js"\n',
    'const it = await import(/* it */ "../node/Mempool.js")\n',
    'const it = await import( // it\n  "../node/Mempool.js")\n',
    'const it = await import("../node/Mempool.js", {})\n',
  ])("sees the arrow in %j", (content) => {
    expect(violations(house(root, { "ledger/State.ts": content }))).toHaveLength(1)
  })

  it.each([
    "const it = await import(`../node/Mempool.js`)\n",
    "const it = await import(/* it */ `../node/Mempool.js`)\n",
    'const it = await import("../node/" + name)\n',
    "const it = await import(name)\n",
  ])("refuses an import that it cannot judge in %j", (content) => {
    expect(violations(house(root, { "ledger/State.ts": content }))).toContain(
      "src/ledger/State.ts: import() of something computed cannot be judged; give it one plain string",
    )
  })

  it.each([
    ['import { SchemaAST as AST } from "effect"\n', "SchemaAST"],
    ["export const it = (schema) => schema.ast\n", ".ast"],
    ["export const it = (fiber) => fiber.unsafePoll()\n", "unsafePoll"],
    ["HttpApi.reflect(Api, {})\n", "HttpApi.reflect"],
    ["export const it = HttpApiSchema.getEncoding\n", "HttpApiSchema.getEncoding"],
  ])("refuses %j outside effect3/", (content, name) => {
    const imports = violations(house(root, { "effect3/http/It.ts": content, "rpc/server/It.ts": content }))
    expect(imports).toEqual([`src/rpc/server/It.ts uses ${name}, which belongs in effect3/`])
  })

  it.each(["js", "mjs", "cjs", "jsx", "mts", "cts"])("refuses a script that ends in .%s", (ending) => {
    expect(violations(house(root, { [`ledger/State.${ending}`]: "export {}\n" }))).toEqual([
      `src/ledger/State.${ending}: only .ts and .tsx are checked; rename it`,
    ])
  })

  it("refuses a link", () => {
    house(root, { "ledger/State.ts": "export {}\n" })
    symlinkSync("../../node", join(root, "ledger/node"))
    expect(violations(root)).toEqual(["src/ledger/node: a link; what it leads to cannot be judged"])
  })

  it("reads declarations too", () => {
    expect(violations(house(root, { "ledger/it.d.ts": importing("../node/Mempool.js") }))).toHaveLength(1)
  })

  it("refuses a folder with too many files", () => {
    const files = Object.fromEntries(Array.from({ length: 26 }, (_, n) => [`consensus/F${n}.ts`, "export {}\n"]))
    expect(violations(house(root, files))).toEqual(["src/consensus: 26 files side by side, 25 are the most"])
  })

  it("refuses a room that is not on the list", () => {
    expect(violations(house(root, { "ledger/helpers/strings.ts": "export const a = 1\n" }))).toEqual([
      'src/ledger/helpers/strings.ts: room "ledger/helpers" is not listed; add it to scripts/layers.mjs',
    ])
  })

  it("refuses a folder that is not on the list", () => {
    expect(violations(house(root, { "utils/strings.ts": "export const a = 1\n" }))).toEqual([
      'src/utils/strings.ts: folder "utils" is not listed; add it to scripts/layers.mjs',
    ])
  })
})
