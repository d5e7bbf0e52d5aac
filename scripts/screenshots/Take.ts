// `npm run screenshots`: takes the explorer's pictures in docs/images, over a network with everything that it shows
// (Life.ts). `npm run screenshots -- DIRECTORY` takes every page into that directory instead, on a desktop and on a
// phone, light and dark, and with PostgreSQL installed also the pages that need an archive. `npm run screenshots --
// DIRECTORY proposal wallet` takes only pages whose names begin like that.
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { BrowserContextOptions, Page } from "playwright-core"
import * as Follower from "../../test/archive/Follower.js"
import * as Server from "../../test/archive/Server.js"
import * as Browsers from "../../test/browser/Browser.js"
import * as Purse from "../../test/browser/Purse.js"
import * as Serving from "../../test/gateway/Serving.js"
import * as Processes from "../../test/network/Processes.js"
import * as Life from "./Life.js"

const images = resolve(import.meta.dirname, "../../docs/images")

/** A page, and the steps before its picture. */
interface Subject {
  readonly name: string
  readonly path: string
  readonly prepare?: (page: Page) => Promise<void>
}

interface Shot extends Subject {
  readonly options: BrowserContextOptions
}

/** A gateway over an archive that follows the network. */
const startGateway = async ({ network, node }: Life.Life) => {
  const server = await Server.make()
  const database = await server.create("screenshots")
  const follower = Follower.follow(network, "screenshots", database, node)
  await Processes.until(
    "the archive has alice's payments",
    async () => {
      const rows = await Server.query(database, "select commit_index from transactions offset 30 limit 1").catch(
        () => [],
      )
      return rows.length > 0
    },
    600_000,
  )
  const gateway = await Serving.serve(network.genesisFile, database, [node.http ?? ""])
  const stop = async (): Promise<void> => {
    gateway.child.kill("SIGTERM")
    await follower.end("SIGTERM")
    await server.remove()
  }
  return { url: gateway.url, stop }
}

/** Pages that need an archive. */
const archivePages: ReadonlyArray<Subject> = [
  { name: "archive-overview", path: "" },
  { name: "archive-accounts", path: "accounts" },
  { name: "archive-address", path: "address/@alice" },
  { name: "archive-charts", path: "charts" },
  { name: "archive-words", path: "transactions?words=show&from=2026-01-01" },
]

const walletPages = ({ network, stopped }: Life.Life): ReadonlyArray<Subject> => {
  const open = async (page: Page): Promise<void> => {
    await Purse.bringKey(page, network.rich.toSecretHex())
    await page.locator(".purse .headline").waitFor()
  }
  const review = async (page: Page): Promise<void> => {
    await open(page)
    await page.getByRole("button", { name: "Send", exact: true }).click()
    const form = page.getByRole("form", { name: "Send" })
    await form.getByLabel("To").fill(stopped.addressBech32)
    await form.getByLabel("Amount").fill("12.5")
    await form.getByLabel("Memo").fill("October's rent")
    await form.getByRole("button", { name: "Review" }).click()
    await form.getByRole("button", { name: "Send it" }).waitFor()
  }
  return [
    { name: "wallet", path: "wallet" },
    { name: "wallet-open", path: "wallet", prepare: open },
    { name: "wallet-review", path: "wallet", prepare: review },
  ]
}

const places = ["dag", "transactions", "charts", "validators", "mempool", "checkpoints", "peers", "parameters"]

/** Every page with content. First come those that change soon: the running epoch, and proposals before their votes end. */
const everyPage = async (life: Life.Life): Promise<ReadonlyArray<Subject>> => {
  const { client, proposals, slashed, stopped } = life
  const { validators } = await client.staking.validators()
  const { transactions } = await client.transactions.latest({ urlParams: { limit: 1 } })
  const { checkpoints } = await client.checkpoints.list({ urlParams: { closing: "only", limit: 1 } })
  const [validator, transaction, closing] = [validators[1], transactions[0], checkpoints[0]]
  return [
    { name: "epoch-running", path: `epoch/${(closing?.epoch ?? 0) + 1}` },
    { name: "proposals", path: "proposals" },
    { name: "proposal-active", path: `proposal/${proposals.Active}` },
    { name: "proposal-passed", path: `proposal/${proposals.Passed}` },
    { name: "overview", path: "" },
    ...places.map((place) => ({ name: place, path: place })),
    { name: "proposal-executed", path: `proposal/${proposals.Executed}` },
    { name: "proposal-failed", path: `proposal/${proposals.Failed}` },
    { name: "proposal-rejected", path: `proposal/${proposals.Rejected}` },
    { name: "epochs", path: "checkpoints?closing=only" },
    { name: "epoch", path: `epoch/${closing?.epoch}` },
    { name: "checkpoint", path: `checkpoint/${closing?.round}` },
    { name: "validator", path: `validator/${validator?.address}` },
    { name: "validator-slashed", path: `validator/${slashed.address}` },
    { name: "validator-stopped", path: `validator/${stopped.address}` },
    { name: "address", path: "address/@alice" },
    { name: "address-unknown", path: `address/${"1".repeat(40)}` },
    { name: "transaction", path: `tx/${transaction?.hash}` },
    { name: "vertex", path: `vertex/${transaction?.vertex_hash}` },
    { name: "round", path: `round/${transaction?.round}` },
    { name: "search", path: "search?q=abcdef" },
    { name: "nowhere", path: "no/such/page" },
    ...walletPages(life),
  ]
}

const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 900 } }
const phone: BrowserContextOptions = { ...Browsers.phone, deviceScaleFactor: 2 }

const inFour = (pages: ReadonlyArray<Subject>): ReadonlyArray<Shot> =>
  pages.flatMap((page) =>
    (["light", "dark"] as const).flatMap(
      (colorScheme): ReadonlyArray<Shot> => [
        { ...page, name: `${page.name}-desktop-${colorScheme}`, options: { ...desktop, colorScheme } },
        { ...page, name: `${page.name}-phone-${colorScheme}`, options: { ...phone, colorScheme } },
      ],
    ),
  )

const ofDocs = ({ proposals }: Life.Life): ReadonlyArray<Shot> => {
  const [light, dark] = (["light", "dark"] as const).map((colorScheme) => ({
    ...{ viewport: { width: 1400, height: 900 }, colorScheme },
  }))
  const of = (name: string, path: string, options: BrowserContextOptions = {}): Shot => ({ name, path, options })
  return [
    of("explorer-proposal", `proposal/${proposals.Active}`, dark),
    of("explorer-overview", "", light),
    of("explorer-dag", "dag", dark),
    of("explorer-address", "address/@alice", light),
    of("explorer-validators", "validators", light),
    of("explorer-wallet", "wallet", light),
    of("explorer-phone", "", { ...phone, colorScheme: "dark" }),
  ]
}

const [into, ...wanted] = process.argv.slice(2)
/** Long enough for the picture to follow the newest round. */
const settledMs = into === undefined ? 8_000 : 1_500
const out = into === undefined ? images : resolve(into)
const isWanted = ({ name }: Subject): boolean => wanted.length === 0 || wanted.some((start) => name.startsWith(start))

const browser = await Browsers.launch()

const take = async (from: string, { name, path, prepare, options }: Shot): Promise<void> => {
  const { page, troubles } = await Browsers.open(browser, options)
  await page.goto(`${from}/explorer/${path}`)
  await page.locator(".skeleton").first().waitFor({ state: "detached" })
  await prepare?.(page)
  await sleep(settledMs)
  const file = join(out, `${name}.png`)
  await page.screenshot({ path: file, fullPage: into !== undefined })
  console.log([file, ...((await Browsers.isTooWide(page)) ? ["scrolls sideways"] : []), ...troubles].join(" · "))
  await page.context().close()
}

try {
  const life = await Life.live()
  mkdirSync(out, { recursive: true })
  const url = life.node.http ?? ""
  for (const shot of into === undefined ? ofDocs(life) : inFour((await everyPage(life)).filter(isWanted)))
    await take(url, shot)
  const archived = archivePages.filter(isWanted)
  if (into !== undefined && Server.isThere && archived.length > 0) {
    const gateway = await startGateway(life)
    for (const shot of inFour(archived)) await take(gateway.url, shot)
    await gateway.stop()
  }
} finally {
  await browser.close()
  await Processes.removeAll()
}
process.exit()
