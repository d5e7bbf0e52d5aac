/**
 * Runs the tables of the API over real connections against any server. Requests that succeed go through the typed
 * client, those that must fail are sent as raw bytes.
 */

import { Validator } from "@seriousme/openapi-schema-validator"
import { beforeAll, describe, expect, it } from "vitest"
import type { PromiseClient } from "../../src/client/Client.js"
import type * as OpenApiDocument from "../../src/rpc/documents/OpenApiDocument.js"
import * as TestServer from "../rpc/TestServer.js"
import * as EffectClient from "./EffectClient.js"
import { Judge } from "./Judge.js"
import * as Mutants from "./Mutants.js"
import type * as Reads from "./Reads.js"
import * as Records from "./Records.js"
import * as Refusals from "./Refusals.js"
import * as Shape from "./Shape.js"
import * as TestNode from "./TestNode.js"
import type * as World from "./World.js"

const COIN = 100_000_000

const requestOf = (method: string, path: string, headers: string, body: string | undefined): string => {
  const length = body === undefined ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}${length}\r\n${body ?? ""}`
}

const JSON_HEADER = "Content-Type: application/json\r\n"

/** One test per route: there are hundreds of cases, and those of one route can run at the same time. */
const byRoute = <A>(
  cases: ReadonlyArray<A>,
  nameOf: (one: A) => string,
): ReadonlyArray<readonly [string, Array<A>]> => {
  const routes = new Map<string, Array<A>>()
  for (const one of cases) {
    const known = routes.get(nameOf(one))
    if (known === undefined) routes.set(nameOf(one), [one])
    else known.push(one)
  }
  return [...routes]
}

/** A server of the API, and how it differs from a node. */
export interface Subject {
  /** Called once. Returns a world where everything has happened, with the address of the tested server. */
  readonly world: () => Promise<World.World>
  readonly reads: ReadonlyArray<Reads.Read>
  readonly refusals: ReadonlyArray<Refusals.Refusal>
  /** Only the handlers, under another server that has its own responses to unknown requests. */
  readonly isMounted?: true
}

/** For cases of one subject only. */
export interface Asking {
  readonly world: () => World.World
  /** Sends a request and applies the general checks to the response. */
  readonly ask: (
    method: string,
    route: string | undefined,
    path: string,
    headers?: string,
    body?: string,
  ) => Promise<TestServer.RawAnswer>
}

/** Call this within a group of the subject's own. */
export const define = ({ world: worldOf, reads, refusals: all, isMounted }: Subject): Asking => {
  const refusals = isMounted ? all.filter(({ route, status }) => route !== undefined && status !== 405) : all
  /** A test of the listener itself. */
  const listening = (name: string, test: () => Promise<void>): void => {
    if (isMounted === undefined) it(name, test)
  }
  let node: TestNode.TestNode
  let world: World.World
  let document: OpenApiDocument.Document
  let judge: Judge
  let clients: ReadonlyArray<PromiseClient>

  beforeAll(async () => {
    world = await worldOf()
    node = world.node
    clients = [node.client, await EffectClient.connect(node.url)]
    document = JSON.parse((await TestServer.ask(node.port, TestServer.get("/openapi.json"))).body)
    judge = new Judge(document)
  })

  /** Sends a request and applies the general checks to the response. */
  const ask = async (
    method: string,
    route: string | undefined,
    path: string,
    headers = "",
    body?: string,
  ): Promise<TestServer.RawAnswer> => {
    const answer = await TestServer.ask(node.port, requestOf(method, path, headers, body))
    expect(judge.complaints({ method, route, answer }), `${method} ${path}`).toEqual([])
    return answer
  }

  const post = (path: string, body: unknown, headers = JSON_HEADER) =>
    ask("POST", path, path, headers, typeof body === "string" ? body : JSON.stringify(body))

  it("describes itself in a document that an independent judge finds valid", async () => {
    expect(await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)).toEqual({
      valid: true,
    })
  })

  it("has every route of the document in these tables", () => {
    const routes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
    )
    const asked = new Set([
      ...reads.map(({ route }) => `GET ${route}`),
      ...Refusals.gated.map(([method, path]) => `${method} ${path}`),
      ...Refusals.archived.map(({ route }) => `GET ${route}`),
      ...["POST /tx/submit", "GET /metrics", "GET /events", "GET /openapi.json", "GET /docs"],
    ])
    expect(routes.filter((route) => !asked.has(route))).toEqual([])
    expect([...asked].filter((route) => !routes.includes(route))).toEqual([])
  })

  describe("answers", () => {
    const answers = async (read: Reads.Read): Promise<void> => {
      const { route, of } = read
      const path = await read.path(world)
      const answer = await ask("GET", route, path)
      expect(answer, of).toMatchObject({ status: 200 })
      const body = JSON.parse(answer.body)
      expect(Shape.complaints(read.shape(world), body), of).toEqual([])
      if (read.values !== undefined) expect(body, of).toMatchObject(read.values(world))

      // The mutants that both the table and the document accept.
      const unseen = ({ body }: Mutants.Mutant) => Shape.complaints(read.shape(world), body).length === 0
      expect(Mutants.of(body, read.optional).filter(unseen), of).toEqual([])
      const undocumented = (mutant: Mutants.Mutant) => {
        const changed = { ...answer, body: JSON.stringify(mutant.body) }
        return judge.complaints({ method: "GET", route, answer: changed }).length === 0
      }
      expect(Mutants.outermost(body, read.optional).filter(undocumented), of).toEqual([])

      for (const client of clients) {
        expect(Object.keys((await read.typed(client, world)) as object), of).toEqual(Object.keys(body))
      }

      // Also where the response to the path alone is encoded already.
      if (isMounted === undefined) {
        const unknown = await ask("GET", route, `${path}${path.includes("?") ? "&" : "?"}unknown=1`)
        expect([unknown.status, JSON.parse(unknown.body)], of).toMatchObject([400, { field: "unknown" }])
      }

      const head = await ask("HEAD", route, path)
      expect(head.status, of).toBe(200)
      expect(head.headers.get("content-type"), of).toBe("application/json")
    }

    it.each(byRoute(reads, ({ route }) => `GET ${route}`))("%s", async (_, reads) => {
      await Promise.all(reads.map(answers))
    })

    it("balances to the last sat", async () => {
      const { total_supply, total_staked } = await node.client.core.status()
      expect(total_supply).toBeLessThanOrEqual(21_000_000 * COIN)
      const { validators, ...list } = await node.client.staking.validators()
      expect(list.total_staked).toBeGreaterThanOrEqual(total_staked)
      expect(validators.map(({ effective_stake }) => effective_stake)).toEqual(
        validators.map(({ effective_stake }) => effective_stake).sort((a, b) => b - a),
      )
    })

    it("checkpoints that name the one that closed the epoch before", async () => {
      const { checkpoints } = node.client
      const latest = await TestNode.until(
        () => checkpoints.latest(),
        ({ epoch }) => epoch > 1,
      )
      const closing = await checkpoints.byHash({ path: { hash: latest.previous } })
      expect(closing).toMatchObject({ epoch: latest.epoch - 1, next_epoch: { epoch: latest.epoch } })
      expect(await checkpoints.closing({ path: { epoch: closing.epoch as never } })).toEqual(closing)
    })

    it("pages through a history, newest first, each transaction once", async () => {
      const whole = await node.client.transactions.history({ path: { address: "@alice" }, urlParams: { limit: 100 } })
      const found: Array<string> = []
      for (let cursor: string | null = ""; cursor !== null; ) {
        const urlParams: { limit: number; cursor?: string } = cursor === "" ? { limit: 2 } : { limit: 2, cursor }
        const page = await node.client.transactions.history({ path: { address: "@alice" }, urlParams })
        expect(page.transactions.length).toBeLessThanOrEqual(2)
        found.push(...page.transactions.map(({ hash }) => hash))
        cursor = page.next_cursor
      }
      expect(found).toEqual(whole.transactions.map(({ hash }) => hash))
      expect(found).toHaveLength(5)
    })

    it("pages through a statement whose changes add up to the balance", async () => {
      const { validators } = await node.client.staking.validators()
      const accounts = ["@alice", ...validators.map(({ address }) => address)]
      for (const address of accounts) {
        for (const limit of [2, 100]) {
          const changes: Array<number> = []
          let balance = 0
          let cursor: string | null = ""
          while (cursor !== null) {
            const urlParams: { limit: number; cursor?: string } = cursor === "" ? { limit } : { limit, cursor }
            const page = await node.client.transactions.statement({ path: { address }, urlParams })
            expect(page.entries.length).toBeLessThanOrEqual(limit)
            // A validator earns rewards meanwhile, which show in the newest entries.
            if (cursor === "") balance = page.balance
            changes.push(...page.entries.map(({ change }) => change))
            cursor = page.next_cursor
          }
          expect(changes.reduce((sum, change) => sum + change, 0)).toBe(balance)
        }
      }
    })

    it("documents for people and for machines", async () => {
      expect((await ask("GET", "/docs", "/docs")).headers.get("content-type")).toMatch(/^text\/html/)
      expect((await ask("GET", "/openapi.json", "/openapi.json")).headers.get("content-type")).toBe("application/json")
    })

    listening("the explorer's page, and what it loads", async () => {
      const page = await (await fetch(`${node.url}/explorer/tx/3f9a`)).text()
      const loaded = [...page.matchAll(/(?:src|href)="(\/explorer\/assets\/[^"]+)"/g)].map(([, path]) => path)
      expect(loaded.length).toBeGreaterThan(0)
      for (const path of loaded) expect((await fetch(`${node.url}${path}`)).status, path).toBe(200)
    })

    listening("preflights of every path", async () => {
      for (const path of Object.keys(document.paths)) {
        const answer = await ask("OPTIONS", undefined, path.replace(/\{\w+\}/g, "1"))
        expect(answer.status, path).toBe(204)
        expect(answer.headers.get("allow"), path).toMatch(/OPTIONS/)
      }
    })

    it("events as they happen, with an id each", async () => {
      const bytes = await TestServer.exchange(node.port, [TestServer.get("/events")], {
        isEnough: (text) => ["round", "vertex"].every((type) => new RegExp(`event: ${type}\n.*\n\n`).test(text)),
      })
      const text = bytes.toString()
      expect(text).toMatch(/^HTTP\/1\.1 200 /)
      for (const header of [
        "content-type: text/event-stream",
        "cache-control: no-store",
        "access-control-allow-origin: *",
      ]) {
        expect(text.toLowerCase()).toContain(header)
      }
      expect(text).toMatch(/id: \d+\nevent: round\ndata: \{"type":"round","round":\d+,"finalized_round":\d+\}\n\n/)
      expect(text).toMatch(/event: vertex\ndata: \{"type":"vertex",/)
    })
  })

  describe("refuses", () => {
    const refuses = async (refusal: Refusals.Refusal): Promise<void> => {
      const { method, route, path, because, body, status, code, more, says } = refusal
      const given = body?.(world)
      const text = given === undefined || typeof given === "string" ? given : JSON.stringify(given)
      const headers = refusal.headers ?? (body === undefined ? "" : JSON_HEADER)
      const answer = await ask(method, route, path(world), headers, text)
      expect({ status: answer.status, body: answer.body }, because).toMatchObject({ status })
      const answered = JSON.parse(answer.body)
      expect(Shape.complaints(Records.failure(code, more), answered), because).toEqual([])
      if (says !== undefined) expect(answered.error, because).toMatch(says)
      expect(answered.error, because).not.toMatch(/\n/)
      for (const key of Object.values(node.keys)) expect(answer.body, because).not.toContain(key.toSecretHex())
      if (route !== undefined && status !== 405 && method !== "HEAD") {
        expect(EffectClient.failureOf(method, route, status, answered), because).toMatchObject({ _tag: code })
      }
      if (status === 405) expect(answer.headers.get("allow")).toBe(answered.allowed.join(", "))
    }

    it.each(byRoute(refusals, ({ method, route }) => `${method} ${route ?? "what is nowhere"}`))(
      "%s",
      async (_, cases) => {
        await Promise.all(cases.map(refuses))
      },
    )

    listening("more than a million characters of a header, or what is no HTTP", async () => {
      const large = await TestServer.ask(node.port, TestServer.get("/status", `X: ${"x".repeat(20_000)}\r\n`))
      expect(judge.complaints({ method: "GET", route: undefined, answer: large })).toEqual([])
      expect(large.status).toBe(431)
      const nonsense = await TestServer.ask(node.port, "HELLO\r\n\r\n")
      expect(judge.complaints({ method: "GET", route: undefined, answer: nonsense })).toEqual([])
      expect(JSON.parse(nonsense.body).code).toBe("InvalidRequest")
    })
  })

  describe("takes in", () => {
    it("a signed transaction, the same one again with the same answer, and an array of them", async () => {
      const { dave, bob } = node.accounts
      const transfer = (nonce: number, fee = 5_000) => dave.transfer({ to: bob.addressBech32, amount: 1, fee, nonce })
      // A nonce far ahead, so that the transaction is still pending when it is repeated.
      const first = await post("/tx/submit", transfer(40))
      expect(Shape.complaints(Records.accepted, JSON.parse(first.body))).toEqual([])
      expect((await post("/tx/submit", transfer(40))).body).toBe(first.body)
      const answer = await post("/tx/submit", [
        transfer(41),
        transfer(40, 5_499),
        5,
        transfer(40, 5_500),
        { ...transfer(2), amount: 2 },
      ])
      expect(answer.status).toBe(200)
      const answers = JSON.parse(answer.body)
      expect(answers.map((each: { status_code: number; code?: string }) => [each.status_code, each.code])).toEqual([
        [200, undefined],
        [409, "NoncePending"],
        [400, "InvalidRequest"],
        [200, undefined],
        [400, "InvalidSignature"],
      ])
      expect(Shape.complaints(Records.acceptedInArray, answers[0])).toEqual([])
      const replaced = JSON.parse(first.body).tx_hash
      expect((await ask("GET", "/tx/:hash", `/tx/${replaced}`)).status).toBe(404)
    })
  })

  return { world: () => world, ask }
}
