/** Web pages against a node on the loopback: under a name that leads there (DNS rebinding), and from elsewhere. */
import { Option } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Cidr from "../../src/node/start/Cidr.js"
import { example } from "../../src/rpc/api/Field.js"
import * as TestServer from "./TestServer.js"

const { ask } = TestServer

const request = (method: string, path: string, headers: string, body = "") =>
  `${method} ${path} HTTP/1.1\r\n${headers}Connection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const codeOf = async (port: number, method: string, path: string, headers: string, body = "") => {
  const answer = await ask(port, request(method, path, headers, body))
  expect(answer.headers.get("access-control-allow-origin")).toBe("*")
  return answer.status === 200 || answer.status === 204 ? answer.status : JSON.parse(answer.body).code
}

const wish = JSON.stringify({ address: example.address, amount: 1 })
const from = (origin: string, host = "127.0.0.1:10333") => `Host: ${host}\r\nOrigin: ${origin}\r\n`

describe("a node that listens on the loopback", () => {
  let server: TestServer.TestServer
  beforeAll(async () => {
    server = await TestServer.start({ rateLimits: true })
  })
  afterAll(() => server.stop())

  it.each([
    "127.0.0.1",
    "127.0.0.1:10333",
    "127.9.8.7",
    "localhost:1",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "[::1]:9",
    "",
  ])("answers under the name %s", async (host) => {
    expect(await codeOf(server.port, "GET", "/status", `Host: ${host}\r\n`)).toBe(200)
  })

  it("asks for a name", async () => {
    expect(await codeOf(server.port, "GET", "/status", "")).toBe("InvalidRequest")
  })

  it.each([
    "evil.example",
    "evil.example:10333",
    "localhost.evil.example",
    "evillocalhost",
    "127.0.0.1.evil.example",
    "192.0.2.7",
    "0.0.0.0",
    "[2001:db8::1]",
    "127.0.0.1@evil.example",
    "a:b:c",
    "evil.example.",
    // In a local network anybody can have such a name, and let it lead to 127.0.0.1.
    "x",
    "printer",
    "node:10333",
    "2130706433",
    "local_host",
    "[]",
  ])("refuses everything under the name %s", async (host) => {
    for (const [method, path] of [
      ["GET", "/status"],
      ["OPTIONS", "/faucet"],
      ["GET", "/explorer/"],
      ["GET", "/nothing"],
    ] as const) {
      expect(await codeOf(server.port, method, path, `Host: ${host}\r\n`)).toBe("ForeignHost")
    }
    expect(await codeOf(server.port, "POST", "/faucet", from(`http://${host}`, host), wish)).toBe("ForeignHost")
  })

  it.each([
    "https://evil.example",
    "null",
    "http://127.0.0.1.evil.example",
    "file://",
    "chrome-extension://abc",
    "http://",
    "x",
  ])("gives no coins, keys or signatures to a page of %s, and does not count what that asks", async (origin) => {
    const secret = JSON.stringify({ secret_key: example.secretKey })
    for (let i = 0; i < 3; i++) {
      expect(await codeOf(server.port, "POST", "/faucet", from(origin), wish)).toBe("ForeignOrigin")
    }
    expect(await codeOf(server.port, "GET", "/keygen", from(origin))).toBe("ForeignOrigin")
    for (const path of "/tx /stake /unstake /delegate /undelegate /set-commission /proposal /vote".split(" ")) {
      expect(await codeOf(server.port, "POST", path, from(origin), secret), path).toBe("ForeignOrigin")
    }
  })

  it("lets any page read and submit what is signed, and pages of this machine do everything", async () => {
    const elsewhere = from("https://evil.example")
    expect(await codeOf(server.port, "GET", "/status", elsewhere)).toBe(200)
    expect(await codeOf(server.port, "OPTIONS", "/tx/submit", elsewhere)).toBe(204)
    expect(await codeOf(server.port, "POST", "/tx/submit", elsewhere, "{}")).toBe("InvalidRequest")
    for (const origin of ["http://localhost:3000", "http://127.0.0.1:10333", "https://[::1]:8443"]) {
      expect(await codeOf(server.port, "GET", "/keygen", from(origin))).toBe(200)
    }
    expect(await codeOf(server.port, "POST", "/faucet", from("http://localhost:3000"), wish)).toBe(200)
  })
})

/** What a browser says of itself: a script's request, an image, and a page that came from the node. */
const pages = {
  script: from("https://evil.example"),
  opaque: from("null"),
  image: "Host: 127.0.0.1:10333\r\nSec-Fetch-Site: cross-site\r\n",
}
const people = {
  program: "Host: 127.0.0.1:10333\r\n",
  explorer: "Host: 127.0.0.1:10333\r\nSec-Fetch-Site: same-origin\r\n",
  typed: "Host: 127.0.0.1:10333\r\nSec-Fetch-Site: none\r\n",
  local: `${from("http://localhost:3000")}Sec-Fetch-Site: cross-site\r\n`,
}

describe("pages from elsewhere have limits of their own", () => {
  it.each(Object.entries(pages))("so a page's %s uses up nobody's requests but those of pages", async (_, page) => {
    const server = await TestServer.start({ rateLimits: true })
    const many = request("GET", "/health", page).replace("Connection: close\r\n", "").repeat(1_000)
    await ask(server.port, `${many}${request("GET", "/health", page)}`)
    for (const other of Object.values(pages)) {
      expect(await codeOf(server.port, "GET", "/health", other)).toBe("RateLimited")
    }
    for (const headers of Object.values(people)) {
      expect(await codeOf(server.port, "GET", "/health", headers)).toBe(200)
    }
    await server.stop()
  })

  it("so an image of /keygen uses up no key of the people at this machine", async () => {
    const server = await TestServer.start({ rateLimits: true })
    for (let i = 0; i < 11; i++) await codeOf(server.port, "GET", "/keygen", pages.image)
    expect(await codeOf(server.port, "GET", "/keygen", pages.image)).toBe("RateLimited")
    expect(await codeOf(server.port, "GET", "/keygen", people.program)).toBe(200)
    await server.stop()
  })

  it("but not where the node serves everybody", async () => {
    const server = await TestServer.start({ rateLimits: true, host: "0.0.0.0" })
    for (let i = 0; i < 11; i++) await codeOf(server.port, "GET", "/keygen", pages.image)
    expect(await codeOf(server.port, "GET", "/keygen", people.program)).toBe("RateLimited")
    await server.stop()
  })
})

describe("behind a trusted proxy", () => {
  it("what the proxy passes on may have any name and origin; what comes past it may not", async () => {
    const server = await TestServer.start({ trustedProxies: [Option.getOrThrow(Cidr.parse("127.0.0.1"))] })
    const forwarded = "X-Forwarded-For: 203.0.113.7\r\n"
    expect(await codeOf(server.port, "GET", "/status", `Host: node.example\r\n${forwarded}`)).toBe(200)
    const page = from("https://app.example", "node.example")
    expect(await codeOf(server.port, "GET", "/keygen", `${page}${forwarded}`)).toBe(200)
    expect(await codeOf(server.port, "GET", "/status", "Host: node.example\r\n")).toBe("ForeignHost")
    expect(await codeOf(server.port, "GET", "/keygen", from("https://app.example"))).toBe("ForeignOrigin")
    await server.stop()
  })
})

describe("a node on the loopback that was told names of its machine", () => {
  it("answers under these and no others", async () => {
    const server = await TestServer.start({ names: ["MyBox", "mybox.lan."] })
    for (const host of ["mybox", "MYBOX:10333", "mybox.lan", "mybox.lan.:80", "localhost"]) {
      expect(await codeOf(server.port, "GET", "/status", `Host: ${host}\r\n`), host).toBe(200)
    }
    for (const host of ["box", "mybox.lan.evil.example", "lan"]) {
      expect(await codeOf(server.port, "GET", "/status", `Host: ${host}\r\n`), host).toBe("ForeignHost")
    }
    expect(await codeOf(server.port, "GET", "/keygen", from("http://mybox", "mybox"))).toBe(200)
    expect(await codeOf(server.port, "GET", "/keygen", from("http://box", "mybox"))).toBe("ForeignOrigin")
    await server.stop()
  })
})

describe("a node that listens for other machines", () => {
  it("has no names, and judges none", async () => {
    const server = await TestServer.start({ host: "0.0.0.0" })
    expect(await codeOf(server.port, "GET", "/keygen", from("https://app.example", "node.example"))).toBe(200)
    await server.stop()
  })
})
