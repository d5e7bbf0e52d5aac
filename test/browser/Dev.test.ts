/** The controls of `udg dev` against real pages: a page open on the same machine must not reach them. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { program, Running } from "../blackbox/Running.js"
import * as Visitor from "./Visitor.js"

let network: Running
let controls = ""
let pages: Http.Server
const visitor = Visitor.forTests()

beforeAll(async () => {
  network = new Running(process.execPath, [program, "dev", "--rpc-port", "0", "--on-demand"])
  await network.until(() => /^ {2}controls +\S+$/m.test(network.stdout))
  controls = /^ {2}controls +(\S+)$/m.exec(network.stdout)?.[1] ?? ""
  pages = Http.createServer((_, response) => response.setHeader("Content-Type", "text/html").end("<!doctype html>"))
  await new Promise<void>((listening) => pages.listen(0, "127.0.0.1", listening))
})
afterAll(async () => {
  pages?.close()
  await network?.stop()
})

const roundNow = async (): Promise<unknown> => {
  const answer: unknown = await (await fetch(controls)).json()
  return answer instanceof Object && "round" in answer ? answer.round : undefined
}

it("keeps out every page of another origin, and shows its user the position", async () => {
  const { page } = await visitor.openTroubled()
  await page.goto(`http://localhost:${(pages.address() as AddressInfo).port}/`)
  const before = await roundNow()
  const outcomes = await page.evaluate(async (controls) => {
    const tried = async (init: RequestInit) => {
      try {
        const answer = await fetch(`${controls}/advance`, { method: "POST", body: '{"rounds":1}', ...init })
        return answer.type
      } catch {
        return "failed"
      }
    }
    const json = { "Content-Type": "application/json" }
    const image = await new Promise<string>((settle) => {
      const shown = new Image()
      shown.onload = () => settle("loaded")
      shown.onerror = () => settle("failed")
      shown.src = controls
    })
    return [await tried({ headers: json }), await tried({ mode: "no-cors" }), await tried({}), image]
  }, controls)
  expect(outcomes).toEqual(["failed", "opaque", "failed", "failed"])
  expect(await roundNow()).toBe(before)
  await page.goto(controls)
  expect(await page.textContent("body")).toContain('"snapshots"')
})
