/** The HTTP edge compared with a bare `node:http` server with the same bytes, and with the library's own server. */
import { createServer, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpServer as PlatformServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Either, Layer, ManagedRuntime, Option } from "effect"
import * as Wallet from "../src/client/Wallet.js"
import * as ResponseHeaders from "../src/edge/server/ResponseHeaders.js"
import * as Server from "../src/edge/server/Server.js"
import { TransactionJson } from "../src/protocol/transaction/TransactionJson.js"
import { Api } from "../src/rpc/api/Api.js"
import { NodeStatus } from "../src/rpc/api/Core.js"
import { Accepted } from "../src/rpc/api/Transactions.js"
import * as ServiceErrors from "../src/rpc/handlers/ServiceErrors.js"
import * as ServerSettings from "../src/rpc/server/ServerSettings.js"
import * as ExampleHandlers from "../test/rpc/ExampleHandlers.js"
import * as TestServer from "../test/rpc/TestServer.js"
import { type Figure, median, type Suite } from "./Harness.js"
import * as HttpLoad from "./HttpLoad.js"

const CONNECTIONS = 32
const MILLISECONDS = 1_000
const ROUNDS = 5

const status = {
  dag_round: 1205,
  last_finalized_round: 1203,
  peers: 4,
  total_supply: 1_500_120_300_000_000,
  total_supply_coin: 15_001_203,
  total_staked: 10_400_000_000_000,
  active_stakers: 2,
  mempool_size: 3,
  dag_vertices: 2409,
} as never as typeof NodeStatus.Type

const accepted = { tx_hash: "3f".repeat(32), status: "accepted", nonce: 7 } as never as typeof Accepted.Type

const key = Wallet.secretKey("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
const sender = Wallet.account(Wallet.network({ network_id: "udg-bench", address_prefix: "tudg" }), key)
const transfer = JSON.stringify(sender.transfer({ to: sender.address, amount: 1, fee: 1000, nonce: 7 }))

const getStatus = "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n"
const postTransfer = `POST /tx/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${transfer.length}\r\n\r\n${transfer}`

/** The upper limit for any server on Node.js. */
const bare = async (): Promise<{ readonly port: number; readonly server: HttpServer }> => {
  const answers = new Map([
    ["/status", Buffer.from(JSON.stringify(status))],
    ["/tx/submit", Buffer.from(JSON.stringify(accepted))],
  ])
  const server = createServer((request, response) => {
    const body = answers.get(request.url ?? "") ?? Buffer.from("{}")
    const answer = (): void => {
      response.writeHead(200, [...ResponseHeaders.bare, ...ResponseHeaders.content(ResponseHeaders.json, body.length)])
      response.end(body)
    }
    if (request.method === "GET") return answer()
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      JSON.parse(Buffer.concat(chunks).toString())
      answer()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { port: (server.address() as AddressInfo).port, server }
}

/** The library's own server with the same two endpoints. */
const SmallApi = HttpApi.make("small").add(
  HttpApiGroup.make("small")
    .add(HttpApiEndpoint.get("status", "/status").addSuccess(NodeStatus))
    .add(HttpApiEndpoint.post("submit", "/tx/submit").setPayload(TransactionJson).addSuccess(Accepted)),
)

const library = HttpApiBuilder.serve().pipe(
  Layer.provide(HttpApiBuilder.api(SmallApi)),
  Layer.provide(
    HttpApiBuilder.group(SmallApi, "small", (handlers) =>
      handlers.handle("status", () => Effect.succeed(status)).handle("submit", () => Effect.succeed(accepted)),
    ),
  ),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
)

const settings: Server.Settings = {
  host: "127.0.0.1",
  port: 0,
  ...ServerSettings.settings({ isMainnet: false }),
  versions: TestServer.changing,
  errors: ServiceErrors.failures,
  rateLimits: false,
  trustedProxies: [],
  clientIpHeader: Option.none(),
}

const edge = (handlers: ExampleHandlers.Overrides, versions = TestServer.changing) =>
  Server.serve(Api, { ...settings, versions }).pipe(Layer.provide(ExampleHandlers.layer(handlers)))

/** The server's processor time per response, which is independent of other load. */
interface Measured extends HttpLoad.Outcome {
  readonly processorUs: number
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const plain = await bare()
  const libraryRuntime = ManagedRuntime.make(library)
  const libraryAddress = await libraryRuntime.runPromise(
    Effect.map(PlatformServer.HttpServer, ({ address }) => address),
  )
  const runtimes = {
    encoded: ManagedRuntime.make(
      edge({
        core: { status: () => Effect.succeed(status) },
        transactions: { submit: ({ payloads }) => Effect.succeed(payloads.map(() => Either.right(accepted))) },
      }),
    ),
    fiber: ManagedRuntime.make(edge({ core: { status: () => Effect.sync(() => status) } })),
    versioned: ManagedRuntime.make(
      edge({ core: { status: () => Effect.succeed(status) } }, { ...TestServer.changing, state: () => 1 }),
    ),
  }
  const portOf = (runtime: ManagedRuntime.ManagedRuntime<Server.Server, Server.CannotListen>) =>
    runtime.runPromise(Effect.map(Server.Server, ({ port }) => port))
  const libraryPort = libraryAddress._tag === "TcpAddress" ? libraryAddress.port : 0
  const encodedPort = await portOf(runtimes.encoded)
  const contenders = [
    { name: "GET /status, bare node:http", port: plain.port, request: getStatus },
    { name: "GET /status, HttpApiBuilder", port: libraryPort, request: getStatus },
    { name: "GET /status, edge, encoded each time", port: encodedPort, request: getStatus },
    { name: "GET /status, edge, through a fiber", port: await portOf(runtimes.fiber), request: getStatus },
    { name: "GET /status, edge, encoded once a version", port: await portOf(runtimes.versioned), request: getStatus },
    { name: "POST /tx/submit, bare node:http", port: plain.port, request: postTransfer },
    { name: "POST /tx/submit, HttpApiBuilder", port: libraryPort, request: postTransfer },
    { name: "POST /tx/submit, edge", port: encodedPort, request: postTransfer },
  ]
  const outcomes = new Map(contenders.map(({ name }) => [name, [] as Array<Measured>]))
  // In turns, so that a busy moment affects all of them.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, port, request } of contenders) {
      const before = process.cpuUsage()
      const outcome = await HttpLoad.run({
        port,
        requests: [request],
        connections: CONNECTIONS,
        milliseconds: MILLISECONDS,
      })
      const { user, system } = process.cpuUsage(before)
      const processorUs = (user + system) / outcome.answers
      if (round > 0) outcomes.get(name)?.push({ ...outcome, processorUs })
    }
  }
  plain.server.closeAllConnections()
  plain.server.close()
  await Promise.all([libraryRuntime.dispose(), ...Object.values(runtimes).map((runtime) => runtime.dispose())])
  const of = (name: string, figure: keyof Measured): number =>
    median((outcomes.get(name) ?? []).map((measured) => measured[figure]))
  return contenders.flatMap(({ name }) => {
    const [what = ""] = name.split(",")
    const share = of(`${what}, bare node:http`, "processorUs") / of(name, "processorUs")
    return [
      { name, value: of(name, "processorUs"), unit: `µs of processor each, ${share.toFixed(2)} of bare` },
      { name: `${name}, throughput`, value: of(name, "perSecond"), unit: "a second" },
      { name: `${name}, p99`, value: of(name, "p99Ms"), unit: "ms" },
    ]
  })
}

export const suite: Suite = {
  about: `the HTTP server alone, ${CONNECTIONS} connections from another process, medians of ${ROUNDS} rounds of ${MILLISECONDS} ms`,
  figures,
}
