/** The explorer over a gateway with an archive in PostgreSQL and one validator. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import { type Gateway, serve } from "../gateway/Serving.js"
import * as Processes from "../network/Processes.js"
import * as Browsers from "./Browser.js"
import * as Visitor from "./Visitor.js"

const missing = !Server.isThere && process.env["CI"] === undefined

describe.skipIf(missing)("the explorer over a gateway", { timeout: 300_000 }, () => {
  let server: Server.Server
  let follower: Follower
  let gateway: Gateway
  const visitor = Visitor.forTests()
  let validator = ""
  let richKey: Wallet.SecretKey

  beforeAll(async () => {
    server = await Server.make()
    const database = await server.create("explorer")
    const network = Processes.found({ validators: 1, roundMs: 250, epochRounds: 600, networkId: "udg-explorer" })
    richKey = network.rich
    validator = Address.fromPublicKey((network.keys[0] ?? network.rich).publicKey)
    const [started] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
    if (started === undefined) throw new Error("no node")
    follower = follow(network, "explorer", database, started)
    await Processes.until(`the archive has a checkpoint: ${follower.said()}`, async () => {
      const rows = await Server.query(database, "select round from checkpoints limit 1").catch(() => [])
      return rows.length > 0
    })
    gateway = await serve(network.genesisFile, database, [started.http ?? ""])
  }, 240_000)

  afterAll(async () => {
    gateway?.child.kill("SIGKILL")
    await follower?.end("SIGKILL")
    await Processes.removeAll()
    await server?.remove()
  })

  it("has every page, with an answer to each request", async () => {
    const { columns } = await connect(gateway.url).dag.columns({ urlParams: {} })
    const vertex = columns.find(({ finalized }) => finalized)?.vertices[0]?.hash ?? ""
    const { page } = await visitor.open()
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
      ["checkpoints", /^Checkpoints$/],
      ["parameters", /^Parameters$/],
      ["wallet", /^Wallet$/],
    ] as const) {
      await page.goto(`${gateway.url}/explorer/${path}`)
      const heading = page.getByRole("heading", { level: 1 })
      await heading.waitFor()
      expect((await heading.textContent())?.trim()).toMatch(title)
      await page.locator(".skeleton").first().waitFor({ state: "detached" })
    }
    expect(refused).toEqual([])
  })

  it("draws the whole past, however long ago it began", async () => {
    const page = await visitor.visit(`${gateway.url}/explorer/charts`)
    const said = (title: string) =>
      page.getByRole("region", { name: title }).getByRole("img").getAttribute("aria-label")
    expect(await said("Vertices per hour")).toMatch(/^Vertices per hour, since the network began: between [1-9]/)
    expect(await said("Transactions per hour")).toMatch(
      /: applied between \d+ and \d+, last \d+; failed between 0 and 0/,
    )
    expect(await said("Supply at the end of each hour, UDG")).toMatch(/now 1,\d{3},\d{3}$/)
  })

  it("finds words in everybody's memos", async () => {
    const client = connect(gateway.url)
    const rich = Wallet.account(Wallet.network(await client.core.network()), richKey)
    const payment = { nonce: 0, fee: 1_000, amount: 1 }
    const { tx_hash: hash } = await client.transactions.submit({
      payload: rich.transfer({ ...payment, to: validator, memo: "a lantern in the harbour" }),
    })
    await Processes.until("the payment is in the archive", async () =>
      client.transactions.lookup({ path: { hash } }).then(({ status }) => status === "finalized"),
    )
    const page = await visitor.visit(`${gateway.url}/explorer/transactions`)
    const rows = page.getByRole("region", { name: "Finalized transactions, newest first" }).locator("tbody tr")
    const search = async (words: string): Promise<void> => {
      await page.getByLabel("Words", { exact: true }).fill(words)
      await page.getByRole("button", { name: "Apply" }).click()
    }
    await search("lighthouse")
    await page.getByText("No transaction with the words lighthouse was found.").waitFor()
    await search("harbour lantern")
    await rows.first().waitFor()
    expect(await rows.getByRole("link").first().getAttribute("href")).toBe(`/explorer/tx/${hash}`)
    const dayIn = (days: number): string => {
      const [month = "", day = "", year = ""] = new Date(Date.now() + days * 86_400_000)
        .toLocaleDateString("en-US", { day: "2-digit", month: "2-digit", year: "numeric" })
        .split("/")
      return [year, month, day].join("-")
    }
    await page.getByLabel("First day").fill(dayIn(0))
    await page.getByLabel("Last day").fill(dayIn(0))
    await search("harbour lantern")
    await page.reload()
    await rows.first().waitFor()
    await page.getByLabel("First day").fill(dayIn(2))
    await page.getByLabel("Last day").fill("")
    await search("")
    await page.getByText("No transaction was finalized in these days.").waitFor()
    await page.getByLabel("First day").fill("")
    await page.getByLabel("Last day").fill("2020-01-01")
    await search("")
    await page.getByText("No transaction was finalized in these days.").waitFor()
    await page.getByRole("button", { name: "Clear" }).click()
    await rows.first().waitFor()
    expect(new URL(page.url()).search).toBe("")
  })

  it("scrolls the archive's own tab into view on a phone", async () => {
    const page = await visitor.visit(`${gateway.url}/explorer/accounts`, Browsers.phone)
    const tab = page.getByLabel("Pages").getByRole("link", { name: "Accounts" })
    await tab.waitFor()
    await expect.poll(async () => ((await tab.boundingBox())?.x ?? 390) + 80 < 390).toBe(true)
  })

  it("says on every page that the archive is behind, and since when, instead of showing old figures as live", async () => {
    const page = await visitor.visit(`${gateway.url}/explorer/parameters`)
    const pulse = page.locator(".pulse")
    await pulse.getByText("live", { exact: true }).waitFor()
    follower.child.kill("SIGSTOP")
    await page.getByText(/^archive \d[\d,]* rounds behind, .*, since \d\d:\d\d:\d\d$/).waitFor()
    await pulse.getByText(/^(behind|halted)$/).waitFor()
    follower.child.kill("SIGCONT")
    await pulse.getByText("live", { exact: true }).waitFor()
  })
})
