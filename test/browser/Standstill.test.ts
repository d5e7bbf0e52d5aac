/** A node that freezes and a network that halts, while pages are open: no old figure looks current. */
import type { Page } from "playwright-core"
import { afterEach, expect, it } from "vitest"
import * as Processes from "../network/Processes.js"
import * as Axe from "./Axe.js"
import * as Visitor from "./Visitor.js"

afterEach(() => Processes.removeAll())
const visitor = Visitor.forTests()

const startAll = async (validators: number) => {
  const network = Processes.found({ validators, roundMs: 250, epochRounds: 600, networkId: "udg-standstill" })
  return Processes.startAll(network, ["--rate-limits", "off"])
}

const openOverview = async (url: string | null | undefined) => {
  const page = await visitor.visit(`${url}/explorer/`)
  await page.locator(".pulse.live b").waitFor()
  await page.locator(".figure-card").first().waitFor()
  await page.getByRole("region", { name: "The latest rounds" }).getByText("committed").first().waitFor()
  return page
}

/** The notes under figures that change every round. */
const notes = (page: Page): Promise<ReadonlyArray<string>> => page.locator(".figure-card .note").allTextContents()

const isAllOld = async (page: Page): Promise<boolean> => (await notes(page)).every((note) => /^as of \d/.test(note))

/** Well below the 30 seconds after which an unanswered request times out. */
const SOON = { timeout: 20_000 }

it("a frozen node's figures are shown as old, and as current again once it continues", async () => {
  const [node] = await startAll(1)
  const page = await openOverview(node?.http)
  process.kill(node?.pid ?? 0, "SIGSTOP")
  try {
    await page.locator(".pulse.lost").waitFor(SOON)
    await page
      .getByText(/^The node has not answered since \d\d:\d\d:\d\d(, when this page was opened)?\./)
      .waitFor(SOON)
    expect(await page.locator(".pulse.live").count()).toBe(0)
    expect(await isAllOld(page)).toBe(true)
    expect(await page.locator(".health .badge").allTextContents()).toEqual(Array.from({ length: 6 }, () => "unknown"))
    expect(await page.locator(".standstill").count()).toBeGreaterThan(0)
    expect(await Axe.seriousOn(page)).toEqual([])
  } finally {
    process.kill(node?.pid ?? 0, "SIGCONT")
  }
  await page.locator(".pulse.live").waitFor()
  await expect.poll(() => isAllOld(page)).toBe(false)
  expect(await page.getByText(/^The node has not answered since/).count()).toBe(0)
})

/** Whether any pixel is coloured rather than grey. */
const isColourful = (page: Page): Promise<boolean> =>
  page
    .locator(".plot canvas")
    .first()
    .evaluate((element) => {
      if (!(element instanceof HTMLCanvasElement)) throw new Error("no canvas")
      const { data } = element.getContext("2d")?.getImageData(0, 0, element.width, element.height) ?? { data: [] }
      for (let i = 0; i < data.length; i += 4) {
        const pixel = [data[i] ?? 0, data[i + 1] ?? 0, data[i + 2] ?? 0]
        if ((data[i + 3] ?? 0) > 200 && Math.max(...pixel) - Math.min(...pixel) > 60) return true
      }
      return false
    })

it("charts are grey while the node is frozen, and in colour again once it continues", async () => {
  const [node] = await startAll(1)
  const page = await openOverview(node?.http)
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Charts" }).click()
  await page.locator(".plot canvas").first().waitFor()
  const filter = () =>
    page
      .locator(".plot")
      .first()
      .evaluate((element) => getComputedStyle(element).filter)
  process.kill(node?.pid ?? 0, "SIGSTOP")
  try {
    await expect.poll(filter, { timeout: SOON.timeout }).toContain("grayscale")
    // A change of theme repaints the charts.
    await page.getByRole("button", { name: /^Colours: / }).click()
  } finally {
    process.kill(node?.pid ?? 0, "SIGCONT")
  }
  await expect.poll(filter, { timeout: SOON.timeout }).toBe("none")
  expect(await isColourful(page)).toBe(true)
})

it("a network without a quorum is shown as halted, on every page", async () => {
  const [node, other] = await startAll(2)
  const page = await openOverview(node?.http)
  await other?.kill()
  await page.locator(".pulse.halted").waitFor(SOON)
  await page.getByText(/^No round has become final since \d\d:\d\d:\d\d(, when this page was opened)?\./).waitFor(SOON)
  expect(await page.locator(".pulse").textContent()).toContain("halted")
  expect(await isAllOld(page)).toBe(true)
  expect(await Axe.seriousOn(page)).toEqual([])
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Validators" }).click()
  await page.getByRole("heading", { level: 1, name: "Validators" }).waitFor()
  await page.getByText(/^No round has become final since \d\d:\d\d:\d\d(, when this page was opened)?\./).waitFor()
})

it("an answer that stops coming is shown as old separately", async () => {
  const [node] = await startAll(1)
  const page = await openOverview(node?.http)
  // Neither answers nor refuses.
  await page.route("**/status", () => {})
  await page.locator(".figures ~ .as-of, .as-of ~ .figures").first().waitFor(SOON)
  expect(await page.locator(".as-of").first().textContent()).toMatch(/^as of \d\d:\d\d:\d\d, not answered since$/)
  expect(await page.locator(".pulse.live").count()).toBe(1)
})

it("a late answer does not move the newest round back", async () => {
  const [node] = await startAll(1)
  const page = await openOverview(node?.http)
  const shownRound = async () => Number((await page.locator(".pulse b").textContent())?.replaceAll(",", ""))
  let late: { readonly round: number; readonly release: () => Promise<void> } | undefined
  await page.route("**/status", async (route) => {
    const response = await route.fetch()
    const { dag_round: round } = await response.json()
    late ??= { round, release: () => route.fulfill({ response }) }
  })
  // Without a word from the stream for a second, the page asks.
  process.kill(node?.pid ?? 0, "SIGSTOP")
  await page.waitForRequest("**/status")
  process.kill(node?.pid ?? 0, "SIGCONT")
  await expect.poll(() => late).toBeDefined()
  await expect.poll(shownRound, { interval: 20 }).toBeGreaterThan(late?.round ?? 0)
  const seen = page.evaluate(async () => {
    const rounds: Array<number> = []
    const note = () => rounds.push(Number(document.querySelector(".pulse b")?.textContent?.replaceAll(",", "")))
    const observer = new MutationObserver(note)
    note()
    observer.observe(document.querySelector(".pulse") ?? document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    })
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    return rounds
  })
  await late?.release()
  const rounds = await seen
  expect(rounds.length).toBeGreaterThan(3)
  expect(rounds).toEqual([...rounds].sort((a, b) => a - b))
})
