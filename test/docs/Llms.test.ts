/** The documentation as coding assistants read it: `llms.txt`, and the pages that it names, on a node. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import * as Llms from "../../scripts/docs/Llms.js"
import * as Site from "../../scripts/docs/Site.js"
import { startNode } from "../../src/testing/Testing.js"
import { root } from "./Pages.js"

const FILE = join(root, Llms.FILE)

it("lists every page that a node has, with its first sentence", async () => {
  const text = Llms.text(await Site.pages())
  // UDG_REWRITE_DOCS=1 writes the file again.
  if (process.env["UDG_REWRITE_DOCS"] === "1") writeFileSync(FILE, text)
  expect(readFileSync(FILE, "utf8")).toBe(text)
})

it("links on a node to plain Markdown for each entry", async () => {
  const node = await startNode({ accounts: 1 })
  try {
    const list = await fetch(`${node.url}/llms.txt`)
    expect([list.status, list.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"])
    const text = await list.text()
    const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, path = ""]) => path)
    expect(links.length).toBeGreaterThan(40)
    for (const path of links) {
      const answer = await fetch(`${node.url}/${path}`)
      expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
        path,
        200,
        "text/markdown; charset=utf-8",
      ])
      expect(await answer.text()).toMatch(/^# /)
    }
    const reference = await (await fetch(`${node.url}/docs/endpoints.md`)).text()
    expect(reference).toContain("### POST /tx/submit")
    expect(reference).toMatch(/^- `next_nonce` \(integer\)/m)
    expect(reference).not.toMatch(/undefined|\[object/)
    for (const path of ["/docs/none.md", "/docs/../package.json", "/docs/%2e%2e/package.json", "/docs/images/x.png"])
      expect([path, (await fetch(`${node.url}${path}`)).status]).toEqual([path, 404])
  } finally {
    await node.stop()
  }
})
