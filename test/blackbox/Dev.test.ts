/** `udg dev` as people and programs meet it, and what it refuses to others. */
import * as Http from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { settled } from "../support/Settled.js"
import * as InProcess from "./InProcess.js"
import { program, Running } from "./Running.js"

let network: Running
let controls = ""
let rpc = ""

const start = async (...words: ReadonlyArray<string>) => {
  const running = new Running(process.execPath, [program, "dev", "--rpc-port", "0", ...words])
  await running.until(() => / {2}\(\d+\) tudg1[^\n]+\n +[0-9a-f]{64}\n\n/.test(running.stdout))
  return running
}

const shownAs = ({ stdout }: Running, name: string): string =>
  new RegExp(`^ {2}${name} +(\\S+)$`, "m").exec(stdout)?.[1] ?? ""

beforeAll(async () => {
  network = await start("--on-demand", "--round-ms", "10", "--accounts", "2")
  controls = shownAs(network, "controls")
  rpc = shownAs(network, "rpc")
})
afterAll(async () => {
  network.signal("SIGTERM")
  expect(await network.end()).toMatchObject({ code: 0 })
})

interface Asked {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (url: string, { method = "POST", body = "{}", headers = {} }: Asked = {}) =>
  new Promise<{ readonly status: number; readonly json: Record<string, unknown> }>((settle, fail) => {
    const type = { "Content-Type": "application/json" }
    const request = Http.request(url, { method, headers: { ...type, ...headers } }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part: string) => (text += part))
      response.on("end", () => settle({ status: response.statusCode ?? 0, json: JSON.parse(text) }))
    })
    request.on("error", fail)
    request.end(method === "POST" ? body : undefined)
  })

/** The headers that these send beside `Content-Type` with a POST of JSON. */
const SAID_BY_PROGRAMS = {
  fetchOfNode: {
    Accept: "*/*",
    "Accept-Language": "*",
    "Sec-Fetch-Mode": "cors",
    "User-Agent": "node",
    "Accept-Encoding": "gzip, deflate",
  },
  undici: { Accept: "*/*", "Accept-Language": "*", "Sec-Fetch-Mode": "cors", "User-Agent": "undici" },
  axios: { Accept: "application/json, text/plain, */*", "User-Agent": "axios/1.13.2", "Accept-Encoding": "gzip, br" },
  got: { Accept: "application/json", "User-Agent": "got (https://github.com/sindresorhus/got)" },
  requests: { Accept: "*/*", "User-Agent": "python-requests/2.32.5", "Accept-Encoding": "gzip, deflate" },
  curl: { Accept: "*/*", "User-Agent": "curl/8.14.1" },
}

const nobody = "00000000000000000000000000000000000000aa"

describe("a network for developers", () => {
  it("shows accounts with keys that are the same every time, unless the seed is another", async () => {
    const keysOf = ({ stdout }: Running) => [...stdout.matchAll(/^ {6}([0-9a-f]{64})$/gm)].map(([, key]) => key)
    expect(keysOf(network)).toHaveLength(2)
    expect(network.stdout.split("\n").filter((line) => line.length > 80)).toEqual([])
    const other = await start("--seed", "another", "--accounts", "1")
    expect(keysOf(other)).toHaveLength(1)
    expect(keysOf(network)).not.toContain(keysOf(other)[0])
    other.signal("SIGINT")
    expect(await other.end()).toMatchObject({ code: 0 })
  })

  it("is put forward, set back and given coins over HTTP", async () => {
    const { json: before } = await ask(controls, { method: "GET" })
    const { json: after } = await ask(`${controls}/advance`, { body: '{"rounds":20}' })
    expect(Number(after["round"])).toBeGreaterThanOrEqual(Number(before["round"]) + 20)
    const set = (amount: number) => ask(`${controls}/balance`, { body: JSON.stringify({ address: nobody, amount }) })
    expect((await set(5)).json).toEqual({ address: nobody, balance: 5 })
    const { json } = await ask(`${controls}/snapshot`)
    await set(6)
    const { status } = await ask(`${controls}/revert`, { body: JSON.stringify(json) })
    expect(status).toBe(200)
    expect((await ask(`${rpc}/balance/${nobody}`, { method: "GET" })).json).toMatchObject({ balance: 5 })
  })

  it("does nothing for a web page, under a foreign name, through a proxy, or for what is no control", async () => {
    const position = async () => {
      const { time: _, ...rest } = (await ask(controls, { method: "GET" })).json
      return JSON.stringify(rest)
    }
    const before = await settled(position)
    const refused = async (path: string, asked: Asked) => {
      const { status, json } = await ask(controls + path, { body: '{"rounds":1}', ...asked })
      return [status, json["code"]]
    }
    for (const headers of [
      { Origin: "https://evil.example" },
      { Origin: "http://localhost:3000" },
      { Origin: "null" },
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty" },
      { "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" },
    ])
      expect(await refused("/advance", { headers })).toEqual([403, "ForeignOrigin"])
    for (const headers of [{ Host: "rebound.example" }, { Host: "192.168.0.2:10334" }, { "X-Forwarded-For": "::1" }])
      expect(await refused("/advance", { headers })).toEqual([403, "ForeignHost"])
    expect(await refused("/advance", { method: "GET" })).toEqual([405, "MethodNotAllowed"])
    expect(await refused("/advance", { method: "OPTIONS" })).toEqual([405, "MethodNotAllowed"])
    expect(await refused("/impersonate", {})).toEqual([404, "NotFound"])
    expect(await refused("/advance", { headers: { "Content-Type": "text/plain" } })).toEqual([
      415,
      "UnsupportedMediaType",
    ])
    expect(await refused("/advance", { body: " ".repeat(5_000) })).toEqual([413, "BodyTooLarge"])
    for (const body of ["", "[]", "null", '{"rounds":"1"}', '{"rounds":1,"x":1}', '{"rounds":1e999}', "{}", "{"])
      expect(await refused("/advance", { body })).toEqual([400, "InvalidRequest"])
    for (const body of ['{"address":"x","amount":1}', `{"address":"${nobody}","amount":-1}`, '{"snapshot":99}'])
      expect(await refused("/balance", { body })).toEqual([400, "InvalidRequest"])
    expect(await refused("/revert", { body: '{"snapshot":99}' })).toEqual([400, "InvalidRequest"])
    expect(await position()).toBe(before)
  })

  it("obeys programs, whatever they say of themselves", async () => {
    const { status } = await fetch(`${controls}/advance`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"rounds":1}',
    })
    expect(status).toBe(200)
    for (const headers of Object.values(SAID_BY_PROGRAMS))
      expect((await ask(`${controls}/advance`, { body: '{"rounds":1}', headers })).status).toBe(200)
    // The user, who typed the address.
    const typed = { "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" }
    expect((await ask(controls, { method: "GET", headers: typed })).status).toBe(200)
  })

  it("has its controls on no node's own interface, its own included", async () => {
    for (const path of ["/advance", "/snapshot", "/revert"]) expect((await ask(rpc + path)).status).toBe(404)
    expect((await ask(`${rpc}/balance`)).status).toBe(404)
  })

  it("takes no other network's genesis or data, and says what else is wrong", async () => {
    for (const option of ["--genesis", "--data-dir", "--peer", "--rpc-host"]) {
      const { code, stderr } = await InProcess.udg("dev", option, "x")
      expect({ code, stderr }).toMatchObject({ code: 1 })
      expect(stderr).toContain(`"${option}" is not an option`)
    }
    expect((await InProcess.udg("dev", "--rpc-port", "65535")).stderr).toContain("--control-port would be 65536")
    expect((await InProcess.udg("dev", "--accounts", "0")).stderr).toContain("is not a number of accounts")
    expect((await InProcess.udg("dev", "--control-port", "10333")).stderr).toContain("are both 10333")
  })
})
