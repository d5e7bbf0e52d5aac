/** The documentation site in a real browser: below a path of a server, from a folder without one, and on a phone. */
import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { extname, join, resolve } from "node:path"
import { promisify } from "node:util"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as Axe from "./Axe.js"
import * as Browsers from "./Browser.js"
import * as Visitor from "./Visitor.js"

const root = resolve(import.meta.dirname, "../..")
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".png": "image/png",
}
const BELOW = "/projects/udg/"

const folder = TemporaryFolder.forTests("docs")
let server: Server
const visitor = Visitor.forTests()
let url = ""

beforeAll(async () => {
  await promisify(execFile)("npm", ["run", "--silent", "docs", "--", "--out", join(folder, "site")], { cwd: root })
  server = createServer((request, response) => {
    const path = new URL(request.url ?? "", "http://localhost").pathname
    const file = join(folder, "site", path.startsWith(BELOW) ? path.slice(BELOW.length) : "nothing here")
    if (!existsSync(file)) return response.writeHead(404).end()
    return response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "text/plain" }).end(readFileSync(file))
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}${BELOW}`
})
afterAll(() => void server?.close())

/** Starts at the front page, uses the search and links, and returns. */
const look = async (page: Page, start: string): Promise<void> => {
  await page.goto(`${start}index.html`)
  await page.keyboard.press("/")
  await page.getByLabel("Search the documentation").fill("commit rule")
  await page.locator("#results a").first().waitFor()
  await page.keyboard.press("Enter")
  await page.waitForURL(/docs\/consensus\.html#the-commit-rule$/)
  await page.getByLabel("All pages").getByRole("link", { name: "Concepts in pictures" }).click()
  await page.getByRole("heading", { level: 1, name: "Concepts in pictures" }).waitFor()
  const widths = await page.locator("main img").evaluateAll((all) =>
    Promise.all(
      all.map(async (img) => {
        if (!(img instanceof HTMLImageElement)) return 0
        await img.decode()
        return img.naturalWidth
      }),
    ),
  )
  expect(widths.filter((width) => width > 0).length).toBeGreaterThanOrEqual(6)
  await page.goto(`${start}docs/endpoints.html#core.health`)
  await page.locator("#core\\.health[open]").waitFor()
  await page.getByRole("link", { name: "udg documentation" }).click()
  await page.getByRole("heading", { level: 1, name: "udg" }).waitFor()
}

describe("the documentation", () => {
  it("is searchable in full, below a path of a server", async () => {
    const { page, sent } = await visitor.open()
    await look(page, url)
    expect(sent.filter((request) => !request.startsWith(url))).toEqual([])
  })

  it("works from a folder without a server", async () => {
    const { page } = await visitor.open()
    await look(page, `file://${folder}/site/`)
  })

  it("reports an empty search, and closes with Escape", async () => {
    const page = await visitor.visit(`${url}docs/cli.html`)
    await page.getByLabel("Search the documentation").fill("xyzzy")
    await page.getByText("Nothing about “xyzzy”.").waitFor()
    await page.keyboard.press("Escape")
    expect(await page.locator("#results").isVisible()).toBe(false)
  })

  it.each([
    ["a desktop, light", { colorScheme: "light" }],
    ["a desktop, dark", { colorScheme: "dark" }],
    ["a phone, light", { ...Browsers.phone, colorScheme: "light" }],
    ["a phone, dark", { ...Browsers.phone, colorScheme: "dark" }],
  ] as const)("fits the screen of %s, and axe finds nothing serious", async (_, how) => {
    const { page } = await visitor.open(how)
    for (const path of [
      "index",
      "docs/concepts",
      "docs/cli",
      "docs/protocol",
      "docs/endpoints",
      "docs/commands",
      "docs/operations/monitoring",
    ]) {
      await page.goto(`${url}${path}.html`)
      expect(await Browsers.isTooWide(page), path).toBe(false)
      expect(await Axe.seriousOn(page), path).toEqual([])
    }
  })

  it("copies code, and only the typed lines of a terminal session", async () => {
    const { page } = await visitor.open({ permissions: ["clipboard-read", "clipboard-write"] })
    const copied = async (path: string, text: string): Promise<string> => {
      await page.goto(`${url}docs/${path}.html`)
      const code = page.locator(".code").filter({ hasText: text }).first()
      await code.getByRole("button", { name: "Copy" }).click()
      await code.getByRole("button", { name: "Copied" }).waitFor()
      return page.evaluate(() => navigator.clipboard.readText())
    }
    expect(await copied("getting-started", "$ udg faucet 50")).toBe("udg faucet 50\nudg balance")
    expect(await copied("client", 'from "udg-client"')).toContain('from "udg-client"\n')
  })

  it("opens a page at its top, with its menu entry in view", async () => {
    const page = await visitor.visit(`${url}docs/left-out.html`)
    const current = page.locator("nav [aria-current]")
    const { y = 0, height = 0 } = (await current.boundingBox()) ?? {}
    const screen = await page.evaluate(() => ({ from: scrollY, height: innerHeight }))
    expect(screen.from).toBe(0)
    expect(y).toBeGreaterThan(0)
    expect(y + height).toBeLessThanOrEqual(screen.height)
  })

  it("opens its menu on a phone", async () => {
    const page = await visitor.visit(`${url}index.html`, Browsers.phone)
    const link = page.getByLabel("All pages").getByRole("link", { name: "Become a validator" })
    expect(await link.isVisible()).toBe(false)
    await page.getByText("All pages", { exact: true }).click()
    await link.click()
    await page.waitForURL(/docs\/tutorials\/validator\.html$/)
  })
})
