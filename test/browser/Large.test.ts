/** A hundred validators over two hundred rounds: more than a test can run, so the network is simulated. */
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { gzipSync } from "node:zlib"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect } from "effect"
import { expect, it } from "vitest"
import * as Window from "../../src/explorer/dag/Window.js"
import * as Site from "../../src/rpc/server/Site.js"
import * as TestServer from "../rpc/TestServer.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Frames from "./Frames.js"
import * as Sketch from "./Sketch.js"
import * as Visitor from "./Visitor.js"

const server = forTests(async () => {
  const pages = await Effect.runPromise(Effect.provide(Site.built, NodeContext.layer))
  return TestServer.start({ pages }, Sketch.handlers({ validators: 100, roundMs: 500, rounds: 400 }))
})
const visitor = Visitor.forTests()

it("draws a hundred validators and two hundred rounds, and scrolls through them", async () => {
  const page = await visitor.visit(`${server().url}/explorer/dag`)
  await page.getByRole("region", { name: "The latest rounds" }).getByText("committed").first().waitFor()
  await Frames.zoomOut(page)
  expect(await Axe.coloursOf(page.locator(".dag canvas"))).toBeGreaterThan(20)
  const frames = await Frames.whileMoving(page)
  process.stdout.write(`100 validators, 200 rounds: ${frames.toFixed(0)} frames a second while moving\n`)
})

it("cuts off no round or epoch number, wherever the picture is scrolled", async () => {
  const { page } = await visitor.open()
  await page.addInitScript(() => {
    const labels: Array<readonly [left: number, right: number, width: number]> = []
    Object.assign(globalThis, { labels })
    const fillText = CanvasRenderingContext2D.prototype.fillText
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      const { width } = this.measureText(text)
      const left = { left: x, right: x - width }[this.textAlign.toString()] ?? x - width / 2
      if (/^(epoch )?\d+$/.test(text)) labels.push([left, left + width, this.canvas.clientWidth])
      fillText.call(this, text, x, y)
    }
  })
  await page.goto(`${server().url}/explorer/dag`)
  await page.getByRole("region", { name: "The latest rounds" }).getByText("committed").first().waitFor()
  const movedBy = (steps: ReadonlyArray<number>) =>
    page.evaluate(async (steps) => {
      const canvas = document.querySelector(".dag canvas")
      for (const deltaX of steps) {
        canvas?.dispatchEvent(new WheelEvent("wheel", { deltaX, cancelable: true }))
        await new Promise(requestAnimationFrame)
      }
    }, steps)
  // An epoch begins shortly before this round.
  const replay = page.getByRole("slider", { name: /^Replay/ })
  await replay.fill("250")
  await movedBy(Array.from({ length: 100 }, () => -4))
  // Jumps back before rounds out of view are dropped.
  await replay.fill("250")
  await movedBy([0, 0, -240, ...Array.from({ length: 12 }, () => -8)])
  const labels = await page.evaluate<ReadonlyArray<readonly [number, number, number]>>("labels")
  expect(labels.length).toBeGreaterThan(500)
  expect(labels.filter(([left, right, width]) => left < Window.GUTTER || right > width)).toEqual([])
})

it("weighs what docs/explorer.md says, including the wallet", () => {
  const root = resolve(import.meta.dirname, "../..")
  const assets = join(root, "dist/explorer/assets")
  const bytes = readdirSync(assets).reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0)
  process.stdout.write(`explorer: ${(bytes / 1000).toFixed(0)} KB compressed\n`)
  const [, said] = /weighs (\d+) KB compressed/.exec(readFileSync(join(root, "docs/explorer.md"), "utf8")) ?? []
  expect(Math.abs(bytes / 1000 - Number(said))).toBeLessThan(Number(said) / 20)
})
