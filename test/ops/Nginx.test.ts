/** A real node behind a real nginx with the example's configuration: what the proxy adds, forwards and hides. */
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, request } from "node:http"
import { connect as http2, type IncomingHttpHeaders } from "node:http2"
import { connect } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Calls from "../../src/client/wire/Calls.js"
import { program, Running } from "../blackbox/Running.js"
import { everywhere } from "../edge/Answers.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { isTried, textOf } from "./Kit.js"
import { certify, freePort, mainConfiguration, type Ports, udgConfiguration } from "./RealNginx.js"

/** The code of a refusal, as the typed client reads it. */
const codeOf = ({ status, body }: Pick<Answer, "status" | "body">): string => {
  try {
    return Calls.refused({ status, text: body })
  } catch (error) {
    if (error instanceof Client.RequestRefused) return error.code
    return String(error)
  }
}

const ofTheInterface = { "content-type": "application/json", ...everywhere }

/** The response to these bytes, until the connection closes. */
const raw = (port: number, parts: ReadonlyArray<string>): Promise<Pick<Answer, "status" | "body" | "headers">> =>
  new Promise((resolve, reject) => {
    let text = ""
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    socket.setEncoding("utf8").on("data", (piece: string) => (text += piece))
    socket.on("error", reject).on("close", () => {
      const [head = "", body = ""] = text.split("\r\n\r\n")
      const [first = "", ...lines] = head.split("\r\n")
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
      )
      resolve({ status: Number(first.split(" ")[1]), headers, body })
    })
    for (const part of parts) socket.write(part)
  })

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

interface Asked {
  readonly port: number
  readonly path: string
  /** The client's source address; all of 127.0.0.0/8 is this machine. */
  readonly from: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const opened = ({ port, path, from, headers = {}, body }: Asked): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const json = body === undefined ? {} : { "content-type": "application/json", "content-length": String(body.length) }
    const asking = request(
      {
        host: "127.0.0.1",
        port,
        path,
        localAddress: from,
        agent: false,
        method: body === undefined ? "GET" : "POST",
        headers: { ...headers, ...json },
      },
      resolve,
    )
    asking.on("error", reject)
    asking.end(body)
  })

const ask = async (asked: Asked): Promise<Answer> => {
  const response = await opened(asked)
  let body = ""
  for await (const part of response.setEncoding("utf8")) body += part
  return { status: response.statusCode ?? 0, headers: response.headers, body }
}

describe.runIf(isTried("nginx", "-v"))("a node behind nginx", () => {
  const folder = TemporaryFolder.forTests("nginx")
  let node: Running
  let nginx: Running
  let ports: Ports
  beforeAll(async () => {
    const words = ["--ephemeral", "--port", "0", "--rpc-port", "0", "--trusted-proxy", "127.0.0.1"]
    node = new Running(process.execPath, [program, ...words])
    await node.until(() => /running/.test(node.stderr))
    const own = Number(/^ {2}rpc +http:\/\/127\.0\.0\.1:(\d+)$/m.exec(node.stdout)?.[1])
    ports = { plain: await freePort(), served: await freePort(), secure: await freePort(), node: own }
    certify(folder, 2)
    nginx = new Running("nginx", ["-c", mainConfiguration(folder, udgConfiguration(ports, folder))])
    await nginx.until(() =>
      ask({ port: ports.served, path: "/health", from: "127.0.0.1" }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
  })
  afterAll(async () => {
    for (const running of [nginx, node]) {
      await running.stop()
    }
  })

  const through = (path: string, from: string, more: Partial<Asked> = {}): Promise<Answer> =>
    ask({ port: ports.served, path, from, ...more })

  const address = "00000000000000000000000000000000000000aa"
  const wish = JSON.stringify({ address, amount: 1_000 })

  it("counts the clients and not the proxy, regardless of the headers that they send", async () => {
    const pay = (from: string, headers = {}) => through("/faucet", from, { body: wish, headers })
    expect((await pay("127.0.0.2")).status).toBe(200)
    const second = await pay("127.0.0.2")
    expect(second.status).toBe(429)
    expect(second.headers["retry-after"]).toMatch(/^\d+$/)
    expect((await pay("127.0.0.3")).status).toBe(200)
    for (const forged of ["10.9.8.7", "10.9.8.7, 127.0.0.1", "127.0.0.1", "nonsense"]) {
      expect((await pay("127.0.0.2", { "x-forwarded-for": forged })).status, forged).toBe(429)
    }
  })

  it("trusts no forwarded address from connections that bypass the proxy", async () => {
    const pay = (forged: string) =>
      ask({ port: ports.node, path: "/faucet", from: "127.0.0.4", body: wish, headers: { "x-forwarded-for": forged } })
    expect([(await pay("10.0.0.1")).status, (await pay("10.0.0.2")).status]).toStrictEqual([200, 429])
  })

  it("serves HTTP/2 over TLS, with large responses compressed", async () => {
    const client = http2(`https://127.0.0.1:${ports.secure}`, { rejectUnauthorized: false })
    const asked = (path: string, headers = {}) =>
      new Promise<IncomingHttpHeaders>((answered, failed) => {
        const stream = client.request({ ":path": path, ":authority": "node.example", ...headers })
        stream.on("error", failed).on("response", (head) => {
          stream.close()
          answered(head)
        })
      })
    try {
      const large = await asked("/openapi.json", { "accept-encoding": "gzip" })
      expect(large).toMatchObject({ ":status": 200, "content-encoding": "gzip" })
      expect(large["strict-transport-security"]).toContain("max-age")
      expect((await asked("/health", { "accept-encoding": "gzip" }))["content-encoding"]).toBeUndefined()
      expect((await asked("/openapi.json"))["content-encoding"]).toBeUndefined()
    } finally {
      client.close()
    }
  })

  it("is protected from an address that floods, and serves others", async () => {
    let isRefused = false
    // Few at a time, so that the limit on connections is not reached. The node has a limit too, with another message.
    for (let sent = 0; sent < 3_000 && !isRefused; sent += 40) {
      const answers = await Promise.all(Array.from({ length: 40 }, () => through("/health", "127.0.0.12")))
      isRefused = answers.some(({ status, body }) => status === 429 && body.includes("at once from this address"))
    }
    expect(isRefused).toBe(true)
    expect((await through("/health", "127.0.0.13")).status).toBe(200)
  })

  it("sends events as they happen", async () => {
    // A browser accepts compression, but a compressor waits until it has enough data.
    const headers = { "accept-encoding": "gzip" }
    const response = await opened({ port: ports.served, path: "/events", from: "127.0.0.5", headers })
    expect(response.headers["content-type"]).toMatch(/^text\/event-stream/)
    // Buffered events would arrive in pages of thousands of bytes. On a busy machine some arrive together anyway.
    let [bytes, small] = [0, 0]
    for await (const part of response) {
      const { length } = Buffer.from(part)
      bytes += length
      if (length < 2_048) small++
      if (small === 5 || bytes > 200_000) break
    }
    response.destroy()
    expect(small).toBe(5)
  })

  it("exposes its process metrics to this machine alone", async () => {
    expect((await through("/metrics", "127.0.0.1")).body).toContain("udg_dag_round ")
    const refused = await through("/metrics", "127.0.0.6")
    expect(refused).toMatchObject({ status: 403, headers: ofTheInterface })
    expect(codeOf(refused)).toBe("NotAllowed")
    expect((await through("/metrics/json", "127.0.0.6")).status).toBe(200)
  })

  it("receives the largest body that it reads, and no larger one", async () => {
    const filled = (bytes: number) => `[${" ".repeat(bytes - 2)}]`
    const largest = await through("/tx/submit", "127.0.0.7", { body: filled(1_048_576) })
    expect({ status: largest.status, type: largest.headers["content-type"] }).toMatchObject({
      type: "application/json",
    })
    expect(largest.status).not.toBe(413)
    const larger = await through("/tx/submit", "127.0.0.7", { body: filled(1_048_577) })
    expect(larger).toMatchObject({ status: 413, headers: ofTheInterface })
    expect(codeOf(larger)).toBe("BodyTooLarge")
  })

  it(Rest.of("it waits for slow clients", "serves others while slow clients are disconnected"), async () => {
    const slow = Array.from({ length: 200 }, (_, n) => {
      const socket = connect({ port: ports.served, host: "127.0.0.1", localAddress: `127.0.2.${1 + (n % 50)}` })
      const head = "POST /tx/submit HTTP/1.1\r\nHost: node.example\r\n"
      socket.on("error", () => {}).resume()
      socket.write(n % 2 === 0 ? head : `${head}Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n[`)
      return new Promise((resolve) => socket.once("close", resolve))
    })
    const begun = performance.now()
    for (let n = 0; n < 20; n++) expect((await through("/health", "127.0.0.9")).status).toBe(200)
    expect(performance.now() - begun).toBeLessThan(20_000)
    await Promise.all(slow)
    expect(performance.now() - begun).toBeLessThan(60_000)
  })

  it("has few event streams per client, and serves others", async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => opened({ port: ports.served, path: "/events", from: "127.0.0.10" })),
    )
    for (const answer of answers) answer.on("error", () => {}).resume()
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(8)
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 429]))
    expect((await through("/health", "127.0.0.11")).status).toBe(200)
    for (const answer of answers) answer.destroy()
  })

  it("sends its own headers, and plain HTTP is redirected to TLS", async () => {
    const { headers } = await through("/status", "127.0.0.8")
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "access-control-allow-origin": "*",
    })
    const plain = await ask({
      port: ports.plain,
      path: "/status?a=b",
      from: "127.0.0.8",
      headers: { host: "node.example" },
    })
    expect([plain.status, plain.headers.location]).toStrictEqual([301, "https://node.example/status?a=b"])
  })

  it("has an example whose faults nginx finds", () => {
    const test = (text: string) =>
      spawnSync("nginx", ["-t", "-c", mainConfiguration(join(folder, "faulty"), text)], { encoding: "utf8" })
    const whole = udgConfiguration(ports, folder)
    expect(test(whole).status).toBe(0)
    const faulty = test(whole.replace("proxy_buffering off", "proxy_bufering off"))
    expect(faulty.status).not.toBe(0)
    expect(faulty.stderr).toContain('unknown directive "proxy_bufering"')
  })
})

describe.runIf(isTried("nginx", "-v"))("nginx in front of a missing node", () => {
  const folder = TemporaryFolder.forTests("nginx-away")
  let nginx: Running
  let ports: Ports
  beforeAll(async () => {
    ports = { plain: await freePort(), served: await freePort(), secure: await freePort(), node: await freePort() }
    certify(folder, 2)
    // The test sets the client's address, to simulate many networks.
    const configuration = udgConfiguration(ports, folder).replace(
      "  ssl_certificate ",
      "  set_real_ip_from 127.0.0.1;\n  real_ip_header X-Test-Client;\n  ssl_certificate ",
    )
    nginx = new Running("nginx", ["-c", mainConfiguration(folder, configuration)])
    await nginx.until(() =>
      from("10.0.0.1").then(
        () => true,
        () => false,
      ),
    )
  })
  afterAll(async () => {
    await nginx.stop()
  })

  const from = (client: string, path = "/status"): Promise<Answer> =>
    ask({ port: ports.served, path, from: "127.0.0.1", headers: { "x-test-client": client } })

  it("reports that in the API's form, with the time to retry", async () => {
    const refused = await from("10.0.0.2")
    expect(refused).toMatchObject({ status: 502, headers: { ...ofTheInterface, "retry-after": "5" } })
    const asking = Client.connect(`http://127.0.0.1:${ports.served}`, { retries: 0 }).core.status()
    await expect(asking).rejects.toMatchObject({ code: "Unavailable", failure: { retry_after_seconds: 5 } })
  })

  it("refuses invalid HTTP and long headers in the same form", async () => {
    const long = `GET /status HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(40_000)}\r\n\r\n`
    for (const [request, status, code] of [
      ["GET /status HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "InvalidRequest"],
      ["GET /status HTTP/1.1\r\n\r\n", 400, "InvalidRequest"],
      [long, 431, "HeadersTooLarge"],
    ] as const) {
      const refused = await raw(ports.served, [request])
      expect([request.slice(0, 40), refused]).toMatchObject([expect.anything(), { status, headers: ofTheInterface }])
      expect(codeOf(refused)).toBe(code)
    }
  })

  it("treats an IPv6 /64 as one client, and the next one as another", async () => {
    const answers: Array<Answer> = []
    // Few at a time, so that the limit on connections is not reached.
    for (let n = 0; n < 3_000 && !answers.some(({ status }) => status === 429); n += 40) {
      const some = Array.from({ length: 40 }, (_, more) => from(`2001:db8:a0a:1::${(n + more).toString(16)}`))
      answers.push(...(await Promise.all(some)))
    }
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) {
      expect(answer.headers).toMatchObject({ ...ofTheInterface, "retry-after": "5" })
      expect(codeOf(answer)).toBe("RateLimited")
    }
    const neighbours = await Promise.all(
      Array.from({ length: 20 }, (_, n) => from(`2001:db8:a0a:1:ffff:ffff:ffff:${n.toString(16)}`)),
    )
    expect(neighbours.map(({ status }) => status)).toContain(429)
    expect((await from("2001:db8:a0a:2::1")).status).toBe(502)
    expect((await from("10.0.0.3")).status).toBe(502)
  })

  it("collects a body in one-byte chunks, and passes it on whole", async () => {
    let pieces = 0
    let text = ""
    const recorder = createServer((incoming, outgoing) => {
      incoming.setEncoding("utf8").on("data", (piece: string) => {
        pieces++
        text += piece
      })
      incoming.on("end", () => outgoing.end("{}"))
    })
    await new Promise<void>((resolve) => recorder.listen(ports.node, "127.0.0.1", resolve))
    const body = JSON.stringify("a".repeat(3_000))
    const head = "POST /tx/submit HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    const answer = await raw(ports.served, [head, ...[...body].map((byte) => `1\r\n${byte}\r\n`), "0\r\n\r\n"])
    recorder.close()
    expect(answer.status).toBe(200)
    expect(text).toBe(body)
    expect(pieces).toBeLessThan(10)
  })
})

describe.runIf(isTried("caddy", "version"))("a node behind Caddy", () => {
  it("is reachable, hides its metrics, and has Caddy's refusals in the API's form", async () => {
    const text = textOf("caddy/Caddyfile")
    const folder = TemporaryFolder.forTest("caddy")
    const node = new Running(process.execPath, [program, "--ephemeral", "--port", "0", "--trusted-proxy", "127.0.0.1"])
    await node.until(() => /running/.test(node.stderr))
    const own = /^ {2}rpc +http:\/\/127\.0\.0\.1:(\d+)$/m.exec(node.stdout)?.[1] ?? ""
    const port = await freePort()
    const changed = text.replace("node.example {", `http://127.0.0.1:${port} {`).replace("10333", own)
    const file = join(folder, "Caddyfile")
    writeFileSync(file, `{\n\tadmin off\n}\n${changed}`)
    const caddy = new Running("caddy", ["run", "--config", file, "--adapter", "caddyfile"], { HOME: folder })
    const asked = (path: string, body?: string) =>
      ask({ port, path, from: "127.0.0.1", ...(body === undefined ? {} : { body }) })
    try {
      await caddy.until(() =>
        asked("/health").then(
          ({ status }) => status === 200,
          () => false,
        ),
      )
      const closed = await asked("/metrics")
      expect(closed).toMatchObject({ status: 403, headers: ofTheInterface })
      expect(codeOf(closed)).toBe("NotAllowed")
      const status = await asked("/status")
      expect(status).toMatchObject({ status: 200, headers: ofTheInterface })
      // 413 from newer versions.
      const large = await asked("/tx/submit", `[${" ".repeat(1_048_600)}]`)
      expect([413, 502]).toContain(large.status)
      expect(large.headers).toMatchObject(ofTheInterface)
      expect(["BodyTooLarge", "Unavailable"]).toContain(codeOf(large))
      await node.stop()
      const away = await asked("/status")
      expect(away).toMatchObject({ status: 502, headers: { ...ofTheInterface, "retry-after": "5" } })
      expect(codeOf(away)).toBe("Unavailable")
    } finally {
      for (const running of [caddy, node]) {
        await running.stop()
      }
    }
  })
})
