/** Every page of the explorer over a real node: its content, its links and its accessibility. */
import { setTimeout as sleep } from "node:timers/promises"
import { Option } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Window from "../../src/explorer/dag/Window.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Browsers from "./Browser.js"
import * as Visitor from "./Visitor.js"

const node = forTests(() => RealNode.start({ roundMs: Option.some(250) }))
const visitor = Visitor.forTests()
let validator: string
let vertex: string

beforeAll(async () => {
  const client = connect(node().url)
  for (;;) {
    const { columns, validators } = await client.dag.columns({ urlParams: {} })
    const settled = columns.find(({ finalized }) => finalized)?.vertices[0]
    if (settled !== undefined) {
      validator = validators[settled.validator] ?? ""
      vertex = settled.hash
      break
    }
    await sleep(200)
  }
})

const paths = (): ReadonlyArray<readonly [path: string, title: RegExp]> => [
  ["/explorer/", /^Overview$/],
  ["/explorer/dag", /^The DAG, live$/],
  ["/explorer/transactions", /^Transactions$/],
  ["/explorer/charts", /^Charts$/],
  ["/explorer/validators", /^Validators$/],
  [`/explorer/validator/${validator}`, /^Validator /],
  [`/explorer/address/${validator}`, /^Address /],
  [`/explorer/vertex/${vertex}`, /^Vertex /],
  ["/explorer/round/3", /^Round 3$/],
  ["/explorer/proposals", /^Proposals$/],
  ["/explorer/mempool", /^Mempool$/],
  ["/explorer/peers", /^Peers$/],
  ["/explorer/checkpoints", /^Checkpoints$/],
  ["/explorer/parameters", /^Parameters$/],
  ["/explorer/wallet", /^Wallet$/],
  ["/explorer/nowhere/at/all", /^Not found$/],
]

describe("the explorer's pages", () => {
  it.each([
    ["on a desktop, light", { colorScheme: "light" }],
    ["on a desktop, dark", { colorScheme: "dark" }],
    ["on a phone, dark", { ...Browsers.phone, colorScheme: "dark" }],
  ] as const)("have stable addresses and no serious findings of axe, %s", async (_, options) => {
    const { page } = await visitor.open(options)
    for (const [path, title] of paths()) {
      await page.goto(`${node().url}${path}`)
      await page.getByRole("heading", { level: 1 }).waitFor()
      expect((await page.getByRole("heading", { level: 1 }).textContent())?.trim()).toMatch(title)
      // All data has loaded, and no page is wider than its screen.
      await page.locator(".skeleton").first().waitFor({ state: "detached" })
      expect(await Browsers.isTooWide(page), path).toBe(false)
      // No table is wider than its container, so nothing is hidden until one scrolls.
      const tooWide = "[...document.querySelectorAll('.table')].filter((it) => it.scrollWidth > it.clientWidth).length"
      expect(await page.evaluate(tooWide), path).toBe(0)
      expect(await Axe.seriousOn(page), path).toEqual([])
    }
  })

  it("draws the DAG as it grows", async () => {
    const page = await visitor.visit(`${node().url}/explorer/dag`)
    const table = page.getByRole("region", { name: "The latest rounds" })
    await table.getByText("committed").first().waitFor()
    const newest = async (): Promise<number> =>
      Number((await table.locator("tbody tr a").first().textContent())?.replaceAll(",", ""))
    const before = await newest()
    await expect.poll(newest).toBeGreaterThan(before + 2)
    expect(await Axe.coloursOf(page.locator(".dag canvas"))).toBeGreaterThan(5)
  })

  it("moves through the picture with the keyboard, and opens the selection", async () => {
    const page = await visitor.visit(`${node().url}/explorer/dag`)
    await page.getByRole("region", { name: "The latest rounds" }).getByText("committed").first().waitFor()
    await page.locator(".dag canvas").focus()
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("ArrowLeft")
    const hint = page.locator(".hint")
    await hint.waitFor()
    expect(await hint.textContent()).toMatch(/^Round \d+/)
    await page.getByRole("button", { name: "Latest" }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/explorer\/vertex\/[0-9a-f]{64}$/)
    await page.getByRole("heading", { level: 1, name: /^Vertex/ }).waitFor()
    await page.goBack()
    await page.waitForURL(/\/explorer\/dag$/)
    await page.getByRole("heading", { level: 1, name: "The DAG, live" }).waitFor()
  })

  it("finds whatever is typed into the search box", async () => {
    const page = await visitor.visit(`${node().url}/explorer/`)
    const search = async (text: string): Promise<void> => {
      await page.locator("body").click({ position: { x: 4, y: 400 } })
      await page.keyboard.press("/")
      await page.keyboard.type(text)
      await page.keyboard.press("Enter")
    }
    await search("2")
    await page.waitForURL(/\/explorer\/round\/2$/)
    await search(vertex)
    await page.waitForURL(new RegExp(`/explorer/vertex/${vertex}$`))
    await search(validator)
    await page.waitForURL(new RegExp(`/explorer/address/${validator}$`))
    await search("@nobody-has-this")
    await page.getByText("Not found: @nobody-has-this is not registered.").waitFor()
    await search("ab".repeat(32))
    await page.getByText(/^Not found: this node knows no transaction or vertex abab/).waitFor()
  })

  it("suggests while typing, from the beginning of a hash, with keys and pointer", async () => {
    const page = await visitor.visit(`${node().url}/explorer/`)
    const box = page.getByRole("combobox", { name: /^Search/ })
    await box.fill(vertex.slice(0, 10))
    const option = page.getByRole("option", { name: new RegExp(`^Vertex ${vertex.slice(0, 8)}…${vertex.slice(-6)}$`) })
    await option.waitFor()
    expect(await Axe.seriousOn(page)).toEqual([])
    await option.click()
    await page.waitForURL(new RegExp(`/explorer/vertex/${vertex}$`))
    await box.fill("prop")
    await page.getByRole("option", { name: "Page proposals" }).waitFor()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/explorer\/proposals$/)
    expect(await page.getByRole("option").count()).toBe(0)
  })

  it("abbreviates an address in one form in lists, titles, suggestions and lanes", async () => {
    const { page } = await visitor.open()
    const { address_bech32: written } = await connect(node().url).core.balance({ path: { address: validator } })
    const short = `${written.slice(0, 10)}…${written.slice(-6)}`
    await page.addInitScript(`
      globalThis.painted = new Map()
      const { fillText } = CanvasRenderingContext2D.prototype
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        painted.set(text, x + this.measureText(text).width)
        fillText.call(this, text, x, y)
      }
    `)
    await page.goto(`${node().url}/explorer/dag`)
    await page.getByRole("region", { name: "The latest rounds" }).getByRole("link", { name: short }).first().waitFor()
    const right = () => page.evaluate<number | undefined>(`painted.get(${JSON.stringify(short)})`)
    await expect.poll(right).toBeLessThan(Window.GUTTER)
    await page.getByRole("combobox", { name: /^Search/ }).fill(written.slice(0, 12))
    await page.getByRole("option", { name: `Account ${short}` }).click()
    await page.getByRole("heading", { level: 1, name: `Address ${short}` }).waitFor()
    await page.goto(`${node().url}/explorer/validator/${validator}`)
    await page.getByRole("heading", { level: 1, name: `Validator ${short}` }).waitFor()
  })

  it.each([
    [`/explorer/tx/${"cd".repeat(32)}`, /^Not found: .*cdcd/],
    ["/explorer/tx/xyz", /^Not found: "xyz" is not a hash/],
    ["/explorer/round/99999999", /^Not found: .*not reached yet/],
    ["/explorer/proposal/7", /^Not found: .*7/],
    ["/explorer/address/@nobody-has-this", /^Not found: .*nobody-has-this/],
    ["/explorer/address/tudg1wrong", /^Not found: /],
  ])("reports clearly what does not exist at %s", async (path, said) => {
    const { page } = await visitor.openTroubled()
    await page.goto(`${node().url}${path}`)
    const notice = page.locator(".notice.missing")
    await notice.waitFor()
    expect((await notice.textContent())?.trim()).toMatch(said)
  })

  it("shows others' texts literally, and executes none of them", async () => {
    const client = connect(node().url)
    const key = Option.getOrThrow(node().validatorKey)
    const writer = Wallet.account(Wallet.network(await client.core.network()), key)
    const taken = `<img src=x onerror="document.body.id='taken'"><script>document.body.id='taken'</script>`
    const turned = `"'>\u202e${taken}`
    const shown = `"'>\\u202e${taken}`
    const hashes: Array<string> = []
    for (const payload of [
      writer.createProposal({
        ...{ nonce: 0, fee: 1_000, title: `\u202e<b>${taken.slice(0, 100)}` },
        ...{ description: `${turned}\n${turned}`, proposal_type: { Text: {} } },
      }),
      writer.transfer({ nonce: 1, fee: 1_000, to: validator, amount: 1, memo: turned }),
    ]) {
      hashes.push(await RealNode.finalized(node(), payload))
    }
    const { page } = await visitor.open()
    const texts: ReadonlyArray<readonly [path: string, text: string]> = [
      ["proposals", `\\u202e<b>${taken.slice(0, 100)}`],
      ["proposal/1", `${shown}\n${shown}`],
      [`tx/${hashes[0]}`, `${shown}\n${shown}`],
      [`tx/${hashes[1]}`, shown],
    ]
    for (const [path, text] of texts) {
      await page.goto(`${node().url}/explorer/${path}`)
      await page.locator("bdi").first().waitFor()
      expect(await page.locator("bdi").allTextContents(), path).toContain(text)
    }
    expect(await page.locator("body").getAttribute("id")).toBe(null)
  })

  it("shows who signs for a smart account", async () => {
    const client = connect(node().url)
    const network = Wallet.network(await client.core.network())
    const shared = Wallet.account(network, Option.getOrThrow(node().faucetKey))
    const keys = [shared.publicKey, Wallet.generate().publicKey]
    await RealNode.finalized(node(), shared.setAccountPolicy({ nonce: 0, fee: 1_000, threshold: 2, keys }))
    const page = await visitor.visit(`${node().url}/explorer/address/${shared.addressBech32}`)
    await page.getByText("2 of 2 must sign").waitFor()
    for (const key of keys) await page.getByText(key, { exact: true }).waitFor()
    expect(await Axe.seriousOn(page)).toEqual([])
  })

  it("changes colours and remembers the choice", async () => {
    const page = await visitor.visit(`${node().url}/explorer/`, { colorScheme: "light" })
    const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const light = await paper()
    await page.getByRole("button", { name: /^Colours: system/ }).click()
    expect(await paper()).toBe(light)
    await page.getByRole("button", { name: /^Colours: light/ }).click()
    const dark = await paper()
    expect(dark).not.toBe(light)
    await page.reload()
    await page.getByRole("button", { name: /^Colours: dark/ }).waitFor()
    expect(await paper()).toBe(dark)
  })

  it("redirects a browser from / to itself", async () => {
    const page = await visitor.visit(node().url)
    await page.waitForURL(/\/explorer\/$/)
  })
})
