/** The explorer over a gateway, as it is over a node: an archive in PostgreSQL, and one validator behind it. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import { type Gateway, serve } from "../gateway/Serving.js"
import * as Processes from "../network/Processes.js"
import * as Browsers from "./Browser.js"

const missing = !Server.isThere && process.env["CI"] === undefined

describe.skipIf(missing)("the explorer over a gateway", { timeout: 300_000 }, () => {
  let server: Server.Server
  let follower: Follower
  let gateway: Gateway
  let browser: Browser
  let validator = ""

  beforeAll(async () => {
    server = await Server.make()
    const database = await server.create("explorer")
    const network = Processes.found({ validators: 1, roundMs: 250, epochRounds: 600, networkId: "udg-explorer" })
    validator = Address.fromPublicKey((network.keys[0] ?? network.rich).publicKey)
    const [started] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
    if (started === undefined) throw new Error("no node")
    follower = follow(network, "explorer", database, started)
    await Processes.until(`the archive has a checkpoint: ${follower.said()}`, async () => {
      const rows = await Server.query(database, "select round from checkpoints limit 1").catch(() => [])
      return rows.length > 0
    })
    gateway = await serve(network.genesisFile, database, [started.http ?? ""])
    browser = await Browsers.launch()
  }, 240_000)

  afterAll(async () => {
    await browser?.close()
    gateway?.child.kill("SIGKILL")
    await follower?.end("SIGKILL")
    await Processes.removeAll()
    await server?.remove()
  })

  it("has every page, each request of which is answered", async () => {
    const { columns } = await connect(gateway.url).dag.columns({ urlParams: {} })
    const vertex = columns.find(({ finalized }) => finalized)?.vertices[0]?.hash ?? ""
    const { page, troubles } = await Browsers.open(browser)
    const refused: Array<string> = []
    page.on("response", (response) => {
      if (response.status() >= 500) refused.push(`${response.status()} ${response.url()}`)
    })
    for (const [path, title] of [
      ["", /^Overview$/],
      ["dag", /^The DAG, live$/],
      ["transactions", /^Transactions$/],
      ["charts", /^Charts$/],
      ["accounts", /^Accounts$/],
      ["validators", /^Validators$/],
      [`validator/${validator}`, /^Validator /],
      [`address/${validator}`, /^Address /],
      [`vertex/${vertex}`, /^Vertex /],
      ["round/3", /^Round 3$/],
      ["proposals", /^Proposals$/],
      ["mempool", /^Mempool$/],
      ["peers", /^Peers$/],
      ["checkpoints", /^Latest checkpoint$/],
      ["parameters", /^Parameters$/],
      ["wallet", /^Wallet$/],
    ] as const) {
      await page.goto(`${gateway.url}/explorer/${path}`)
      const heading = page.getByRole("heading", { level: 1 })
      await heading.waitFor()
      expect((await heading.textContent())?.trim()).toMatch(title)
      await page.locator(".skeleton").first().waitFor({ state: "detached" })
    }
    expect({ refused, troubles }).toEqual({ refused: [], troubles: [] })
    await page.context().close()
  })

  it("brings the tab that only an archive has into view on a phone", async () => {
    const { page } = await Browsers.open(browser, Browsers.phone)
    await page.goto(`${gateway.url}/explorer/accounts`)
    const tab = page.getByLabel("Pages").getByRole("link", { name: "Accounts" })
    await tab.waitFor()
    await expect.poll(async () => ((await tab.boundingBox())?.x ?? 390) + 80 < 390).toBe(true)
    await page.context().close()
  })
})
