/** Web pages against a node: under a name that resolves to it (DNS rebinding), and from another site. */
import { Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Cidr from "../../src/node/start/Cidr.js"
import { example } from "../../src/rpc/api/Field.js"
import * as TestServer from "../rpc/TestServer.js"
import { forTests } from "../support/forTests.js"

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
  const server = forTests(() => TestServer.start({ rateLimits: true }))

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
    expect(await codeOf(server().port, "GET", "/status", `Host: ${host}\r\n`)).toBe(200)
  })

  it("requires a host name", async () => {
    expect(await codeOf(server().port, "GET", "/status", "")).toBe("InvalidRequest")
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
    // In a local network anybody can have such a name and point it to 127.0.0.1.
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
      expect(await codeOf(server().port, method, path, `Host: ${host}\r\n`)).toBe("ForeignHost")
    }
    expect(await codeOf(server().port, "POST", "/faucet", from(`http://${host}`, host), wish)).toBe("ForeignHost")
  })

  it.each([
    "https://evil.example",
    "null",
    "http://127.0.0.1.evil.example",
    "file://",
    "chrome-extension://abc",
    "http://",
    "x",
  ])("refuses a page of %s", async (origin) => {
    expect(await codeOf(server().port, "POST", "/faucet", from(origin), wish)).toBe("ForeignOrigin")
  })

  it("lets any page read and submit signed transactions, and lets pages of this machine do everything", async () => {
    const elsewhere = from("https://evil.example")
    expect(await codeOf(server().port, "GET", "/status", elsewhere)).toBe(200)
    expect(await codeOf(server().port, "OPTIONS", "/tx/submit", elsewhere)).toBe(204)
    expect(await codeOf(server().port, "POST", "/tx/submit", elsewhere, "{}")).toBe("InvalidRequest")
    for (const origin of ["http://localhost:3000", "http://127.0.0.1:10333", "https://[::1]:8443"]) {
      expect(await codeOf(server().port, "GET", "/keygen", from(origin))).toBe(200)
    }
    expect(await codeOf(server().port, "POST", "/faucet", from("http://localhost:3000"), wish)).toBe(200)
  })
})

/** The headers a browser sends for a script, an image and a link of another site. */
const foreign = {
  script: "Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\n",
  opaque: "Origin: null\r\n",
  image: "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: image\r\n",
  sibling: "Sec-Fetch-Site: same-site\r\nSec-Fetch-Dest: script\r\n",
  joined: "Sec-Fetch-Site: cross-site, none\r\n",
}
/** The headers of programs and the node's own pages. */
const own = {
  program: "",
  node: "Sec-Fetch-Mode: cors\r\n",
  explorer: "Sec-Fetch-Site: same-origin\r\n",
  typed: "Sec-Fetch-Site: none\r\n",
  local: "Origin: http://localhost:3000\r\nSec-Fetch-Site: cross-site\r\n",
}
const published = ["127.0.0.1:10333", "localhost:10333"]

/** A container published on its host's loopback, and a node that serves everybody. */
describe.each(["127.0.0.1", "0.0.0.0"])("coins, keys and signatures of a node on %s", (host) => {
  const server = forTests(() => TestServer.start({ host }))
  const secret = JSON.stringify({ secret_key: example.secretKey })
  const signing = "/tx /stake /unstake /delegate /undelegate /set-commission /proposal /vote".split(" ")

  it.each(Object.entries(foreign))("are refused to another site's %s", async (_, page) => {
    for (const name of published) {
      const headers = `Host: ${name}\r\n${page}`
      expect(await codeOf(server().port, "GET", "/keygen", headers)).toBe("ForeignOrigin")
      expect(await codeOf(server().port, "POST", "/faucet", headers, wish)).toBe("ForeignOrigin")
      for (const path of signing)
        expect(await codeOf(server().port, "POST", path, headers, secret), path).toBe("ForeignOrigin")
      expect(await codeOf(server().port, "GET", "/status", headers)).toBe(200)
      expect(await codeOf(server().port, "POST", "/tx/submit", headers, "{}")).toBe("InvalidRequest")
    }
  })

  it.each(Object.entries(own))("are given to this machine's %s", async (_, asker) => {
    for (const name of published) {
      expect(await codeOf(server().port, "GET", "/keygen", `Host: ${name}\r\n${asker}`)).toBe(200)
      expect(await codeOf(server().port, "POST", "/faucet", `Host: ${name}\r\n${asker}`, wish)).toBe(200)
    }
  })

  it("are given to a program that uses Node's fetch", async () => {
    const headers = { "content-type": "application/json" }
    const paid = await fetch(`${server().url}/faucet`, { method: "POST", headers, body: wish })
    expect([paid.status, (await fetch(`${server().url}/keygen`)).status]).toEqual([200, 200])
  })
})

describe("a node that listens for other machines", () => {
  const server = forTests(() => TestServer.start({ host: "0.0.0.0", names: ["node.example"] }))
  const page = (host: string) => from(`http://${host}`, host)

  it("answers under every name and pays a program under every name", async () => {
    for (const host of ["node.example", "other.example", "192.0.2.7:10333"]) {
      expect(await codeOf(server().port, "GET", "/status", `Host: ${host}\r\n`)).toBe(200)
      expect(await codeOf(server().port, "POST", "/faucet", `Host: ${host}\r\n`, wish)).toBe(200)
    }
  })

  it("pays its own page under an address and under its configured names", async () => {
    for (const host of ["192.0.2.7:10333", "[2001:db8::7]:10333", "node.example", "localhost:8080"]) {
      expect(await codeOf(server().port, "POST", "/faucet", page(host), wish), host).toBe(200)
    }
  })

  it("refuses payment to a page with a name that was made to resolve here", async () => {
    for (const host of ["evil.example:10333", "printer", "127.0.0.1.evil.example"]) {
      expect(await codeOf(server().port, "POST", "/faucet", page(host), wish), host).toBe("ForeignOrigin")
    }
    expect(await codeOf(server().port, "POST", "/faucet", from("http://192.0.2.8", "192.0.2.7"), wish)).toBe(
      "ForeignOrigin",
    )
  })

  it("pays pages of other sites that are configured", async () => {
    expect(await codeOf(server().port, "POST", "/faucet", from("https://node.example", "192.0.2.7"), wish)).toBe(200)
  })
})

describe("a page of another site", () => {
  it("shares its visitor's request limit but uses none of the endpoint's own", async () => {
    await using server = await TestServer.start({ rateLimits: true })
    for (let i = 0; i < 11; i++) await codeOf(server.port, "GET", "/keygen", `Host: localhost\r\n${foreign.image}`)
    expect(await codeOf(server.port, "POST", "/faucet", from("https://evil.example"), wish)).toBe("ForeignOrigin")
    expect(await codeOf(server.port, "GET", "/keygen", "Host: localhost\r\n")).toBe(200)
    expect(await codeOf(server.port, "POST", "/faucet", "Host: localhost\r\n", wish)).toBe(200)
  })
})

describe("behind a trusted proxy", () => {
  it("accepts any name through the proxy but not past it", async () => {
    await using server = await TestServer.start({ trustedProxies: [Option.getOrThrow(Cidr.parse("127.0.0.1"))] })
    const forwarded = "X-Forwarded-For: 203.0.113.7\r\n"
    expect(await codeOf(server.port, "GET", "/status", `Host: node.example\r\n${forwarded}`)).toBe(200)
    const own = from("https://node.example", "node.example")
    expect(await codeOf(server.port, "GET", "/keygen", `${own}${forwarded}`)).toBe(200)
    const page = from("https://app.example", "node.example")
    expect(await codeOf(server.port, "GET", "/keygen", `${page}${forwarded}`)).toBe("ForeignOrigin")
    expect(await codeOf(server.port, "GET", "/status", "Host: node.example\r\n")).toBe("ForeignHost")
    expect(await codeOf(server.port, "GET", "/keygen", from("https://app.example"))).toBe("ForeignOrigin")
  })
})

describe("a node on the loopback with configured names", () => {
  it("answers under these names and no others", async () => {
    await using server = await TestServer.start({ names: ["MyBox", "mybox.lan."] })
    for (const host of ["mybox", "MYBOX:10333", "mybox.lan", "mybox.lan.:80", "localhost"]) {
      expect(await codeOf(server.port, "GET", "/status", `Host: ${host}\r\n`), host).toBe(200)
    }
    for (const host of ["box", "mybox.lan.evil.example", "lan"]) {
      expect(await codeOf(server.port, "GET", "/status", `Host: ${host}\r\n`), host).toBe("ForeignHost")
    }
    expect(await codeOf(server.port, "GET", "/keygen", from("http://mybox", "mybox"))).toBe(200)
    expect(await codeOf(server.port, "GET", "/keygen", from("http://box", "mybox"))).toBe("ForeignOrigin")
  })
})
