import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { cycles, violations } from "../../scripts/layers.mjs"

/** A house of the given files, each with its content. */
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
    root = mkdtempSync(join(tmpdir(), "udg-layers-"))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  it("holds for this repository", () => {
    expect(violations(resolve(import.meta.dirname, "../../src"))).toEqual([])
    expect(cycles(resolve(import.meta.dirname, "../../src"))).toEqual([])
  })

  it("finds modules that need each other to load, not those that only speak of each other's types", () => {
    const files = {
      "ledger/A.ts": importing("./B.js"),
      "ledger/B.ts": `export { it } from "./deep/C.js"\n`,
      "ledger/deep/C.ts": importing("../A.js"),
      "ledger/D.ts": `import type { E } from "./E.js"\nexport const d: E = 1\n`,
      "ledger/E.ts": `${importing("./D.js")}export type E = number\n`,
      "ledger/F.ts": importing("./F.js"),
    }
    expect(cycles(house(root, files))).toEqual([
      "src/ledger/A.ts imports ledger/B.ts imports ledger/deep/C.ts imports ledger/A.ts",
      "src/ledger/F.ts imports ledger/F.ts",
    ])
  })

  it("lets the arrows of the design pass", () => {
    const files = {
      "protocol/Sats.ts": "export const zero = 0\n",
      "protocol/crypto/Native.ts": importing("node:crypto") + importing("sodium-native"),
      "ledger/State.ts": importing("../protocol/Sats.js") + importing("./Accounts.js") + importing("effect"),
      "consensus/Dag.ts": importing("../ledger/State.js"),
      "storage/Commits.ts": importing("../consensus/Dag.js") + importing("@effect/sql"),
      "node/Mempool.ts": importing("../storage/Commits.js") + importing("../network/Network.js"),
      "rpc/core/Api.ts": importing("../../protocol/Sats.js") + importing("../staking/Api.js"),
      "rpc/core/Http.ts": importing("../../node/Mempool.js") + importing("./Api.js") + importing("node:http"),
      "client/Client.ts": importing("../rpc/Api.js") + importing("../protocol/Sats.js"),
      "cli/Node.ts": importing("../rpc/core/Http.js") + importing("../node/Mempool.js"),
      "main.ts": importing("./cli/Node.js"),
    }
    expect(violations(house(root, files))).toEqual([])
  })

  it.each([
    ["protocol/Sats.ts", "../ledger/State.js", "protocol/ may import only: nothing of ours"],
    ["ledger/State.ts", "../consensus/Dag.js", "ledger/ may import only: protocol"],
    ["consensus/Dag.ts", "../node/Mempool.js", "consensus/ may import only: protocol, ledger"],
    ["storage/Commits.ts", "../node/Mempool.js", "storage/ may import only"],
    ["network/Peer.ts", "../storage/Commits.js", "network/ may import only"],
    ["node/Mempool.ts", "../rpc/core/Http.js", "node/ may import only"],
    ["node/Mempool.ts", "../cli/Node.js", "node/ may import only"],
    ["rpc/core/Http.ts", "../../storage/Commits.js", "rpc/ may import only"],
    ["rpc/core/Api.ts", "../../node/Mempool.js", "may import only: protocol, rpc/Api"],
    ["rpc/core/Api.ts", "./Http.js", "may import only: protocol, rpc/Api"],
    ["client/Client.ts", "../ledger/State.js", "client/ may import only: protocol, rpc/Api"],
    ["client/Client.ts", "../rpc/core/Http.js", "client/ may import only: protocol, rpc/Api"],
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
    ["protocol/Sats.ts", "node:crypto", "protocol/"],
    ["protocol/Sats.ts", "prom-client", "protocol/"],
    ["protocol/Sats.ts", "effect/Clock", "protocol/"],
    ["protocol/Sats.ts", "udg-node/client", "protocol/"],
    ["protocol/Sats.ts", "sodium-native", "protocol/"],
    ["protocol/crypto/Portable.ts", "sodium-native", "protocol/crypto/"],
    ["protocol/crypto/Native.ts", "node:fs", "protocol/crypto/Native.ts"],
    ["ledger/State.ts", "node:fs", "ledger/"],
    ["ledger/State.ts", "udg-node/wallet", "ledger/"],
    ["consensus/Dag.ts", "@effect/platform-node", "consensus/"],
    ["storage/Commits.ts", "node:process", "storage/"],
    ["network/Peer.ts", "node:http", "network/"],
    ["node/Mempool.ts", "better-sqlite3", "node/"],
    ["node/Mempool.ts", "node:process", "node/"],
    ["rpc/core/Http.ts", "@effect/sql", "rpc/"],
    ["rpc/core/Api.ts", "@effect/sql", "rpc/Api/"],
    ["rpc/core/Api.ts", "node:buffer", "rpc/Api/"],
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
  ])("refuses what it cannot judge in %j", (content) => {
    expect(violations(house(root, { "ledger/State.ts": content }))).toContain(
      "src/ledger/State.ts: import() of something computed cannot be judged; give it one plain string",
    )
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

  it("refuses a folder that has no place in the design", () => {
    expect(violations(house(root, { "utils/strings.ts": "export const a = 1\n" }))).toEqual([
      'src/utils/strings.ts: folder "utils" has no place in the design; add it to scripts/layers.mjs',
    ])
  })
})
