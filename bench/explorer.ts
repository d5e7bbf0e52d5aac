/**
 * The explorer in Debian's Chromium without a graphics card: time until a page's content appears, bytes loaded, and
 * frame rate with a hundred validators.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { gzipSync } from "node:zlib"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Option } from "effect"
import type { Browser, Page } from "playwright-core"
import { connect } from "../src/client/Client.js"
import * as Site from "../src/rpc/server/Site.js"
import * as Browsers from "../test/browser/Browser.js"
import * as Frames from "../test/browser/Frames.js"
import * as Sketch from "../test/browser/Sketch.js"
import * as RealNode from "../test/rpc/RealNode.js"
import * as TestServer from "../test/rpc/TestServer.js"
import * as FullNetwork from "./FullNetwork.js"
import { type Figure, median, type Suite } from "./Harness.js"

const LOADS = 7
const PHONE_LOADS = 3

/** Records, from within the page, when its heading is there and nothing is still loading. */
const noteContent = (): void => {
  const observer = new MutationObserver(() => {
    if (document.querySelector("h1") === null || document.querySelector(".skeleton") !== null) return
    performance.mark("content")
    observer.disconnect()
  })
  observer.observe(document, { childList: true, subtree: true })
}

/** Slow 4G and a mid-range processor, with Lighthouse's values. */
const PHONE = { latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8, offline: false }
const SLOWER = 4

const asOnPhone = async (page: Page): Promise<void> => {
  const session = await page.context().newCDPSession(page)
  await session.send("Network.emulateNetworkConditions", PHONE)
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER })
}

interface Load {
  /** Milliseconds from the navigation until anything is painted. */
  readonly painted: number
  /** Milliseconds from the navigation to the content. */
  readonly content: number
  /** What came over the network until then. */
  readonly bytes: number
}

/** Runs in the page, so it cannot refer to names outside of itself. */
const readLoad = (): Load => ({
  painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
  content: performance.getEntriesByName("content")[0]?.startTime ?? Number.NaN,
  bytes: [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce(
    (sum, entry) => sum + (entry instanceof PerformanceResourceTiming ? entry.transferSize : 0),
    0,
  ),
})

/** With an empty cache. */
const load = async (browser: Browser, url: string, isPhone: boolean): Promise<Load> => {
  const { page } = await Browsers.open(browser, isPhone ? Browsers.phone : {})
  if (isPhone) await asOnPhone(page)
  await page.addInitScript(noteContent)
  await page.goto(url)
  await page.waitForFunction(() => performance.getEntriesByName("content").length > 0)
  const took = await page.evaluate(readLoad)
  await page.context().close()
  return took
}

const loadsOf = async (
  browser: Browser,
  url: string,
  loads: number,
  isPhone: boolean,
): Promise<ReadonlyArray<Load>> => {
  const all: Array<Load> = []
  for (let i = 0; i < loads; i++) all.push(await load(browser, url, isPhone))
  return all
}

const medianLoad = async (name: string, browser: Browser, url: string, loads = LOADS): Promise<Figure> => {
  const all = await loadsOf(browser, url, loads, false)
  return { name, value: median(all.map(({ content }) => content)), unit: "ms" }
}

const onPhone = async (name: string, browser: Browser, url: string): Promise<ReadonlyArray<Figure>> => {
  const all = await loadsOf(browser, url, PHONE_LOADS, true)
  const of = (key: keyof Load): number => median(all.map((each) => each[key]))
  return [
    { name: `phone on slow 4G: ${name}, first paint`, value: of("painted"), unit: "ms" },
    { name: `phone on slow 4G: ${name}, content there`, value: of("content"), unit: "ms" },
    { name: `phone on slow 4G: ${name}, loaded`, value: of("bytes") / 1_000, unit: "KB" },
  ]
}

const PAYMENTS = 100_000

/** Every page on a busy network of a hundred validators. */
const overFullNetwork = async (browser: Browser): Promise<ReadonlyArray<Figure>> => {
  const network = await FullNetwork.start(PAYMENTS)
  try {
    const client = connect(network.url)
    const { validators } = await client.staking.validators()
    const { transactions } = await client.transactions.latest({ urlParams: { limit: 1 } })
    const [payment] = transactions
    const validator = validators[0]?.address ?? ""
    const places = ["", "dag", "transactions", "charts", "validators", "proposals", "mempool", "checkpoints", "peers"]
    const paths = [
      ...places,
      ...["parameters", "wallet", `validator/${validator}`, `address/${payment?.transaction.from}`],
      ...[`tx/${payment?.hash}`, `vertex/${payment?.vertex_hash}`, `round/${payment?.round}`],
    ]
    const figures: Array<Figure> = []
    for (const path of paths) {
      const [kind = ""] = path.split("/")
      const name = `100 validators, 100,000 payments: ${kind === "" ? "overview" : kind}`
      figures.push(await medianLoad(name, browser, `${network.url}/explorer/${path}`, 3))
    }
    for (const [name, path] of [
      ["overview", ""],
      ["account", `address/${payment?.transaction.from}`],
      ["wallet", "wallet"],
    ]) {
      figures.push(...(await onPhone(`${name}`, browser, `${network.url}/explorer/${path}`)))
    }
    return figures
  } finally {
    await network.stop()
  }
}

const overRealNode = async (browser: Browser): Promise<ReadonlyArray<Figure>> => {
  const node = await RealNode.start({ roundMs: Option.some(500) })
  try {
    return [
      await medianLoad("overview, content there", browser, `${node.url}/explorer/`),
      await medianLoad("validators, content there", browser, `${node.url}/explorer/validators`),
    ]
  } finally {
    await node.stop()
  }
}

const overSketch = async (browser: Browser): Promise<ReadonlyArray<Figure>> => {
  const pages = await Effect.runPromise(Effect.provide(Site.built, NodeContext.layer))
  const drawn = Sketch.handlers({ validators: 100, roundMs: 500, rounds: 400 })
  const server = await TestServer.start({ pages }, drawn)
  try {
    const url = `${server.url}/explorer/dag`
    const loaded = await medianLoad("DAG of 100 validators, content there", browser, url)
    const { page } = await Browsers.open(browser)
    await page.goto(url)
    await Frames.zoomOut(page)
    const frames = await Frames.whileMoving(page)
    await page.context().close()
    return [loaded, { name: "100 validators, 200 rounds, moving", value: frames, unit: "frames/s" }]
  } finally {
    await server.stop()
  }
}

const weight = (): Figure => {
  const assets = resolve(import.meta.dirname, "../dist/explorer/assets")
  const bytes = readdirSync(assets).reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0)
  return { name: "all of it, compressed", value: bytes / 1_000, unit: "KB" }
}

export const suite: Suite = {
  about: "the explorer in a browser: load times, size, and frame rate while the DAG moves",
  figures: async () => {
    const browser = await Browsers.launch()
    try {
      return [
        weight(),
        ...(await overRealNode(browser)),
        ...(await overSketch(browser)),
        ...(await overFullNetwork(browser)),
      ]
    } finally {
      await browser.close()
    }
  },
}
