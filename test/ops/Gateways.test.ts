/**
 * Two real gateways behind a real nginx with the example's configuration: how one client or one fault affects the
 * others.
 */
import { request } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { position } from "../archive/Comparison.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Nginx from "../gateway/Nginx.js"
import { type Gateway, get, serve } from "../gateway/Serving.js"
import * as Processes from "../network/Processes.js"
import * as Rest from "../support/Rest.js"
import { isTried } from "./Kit.js"

const isMissing = !(Server.isThere && isTried("nginx", "-v")) && process.env["CI"] === undefined
const CLIENTS = 20

describe.skipIf(isMissing)(
  Rest.of("PostgreSQL, a node, an archive, two gateways and nginx", "gateways behind nginx"),
  { timeout: 300_000 },
  () => {
    let server: Server.Server
    let follower: Follower
    let gateways: readonly [Gateway, Gateway]
    let front: Nginx.Front

    beforeAll(async () => {
      server = await Server.make()
      const database = await server.create("front")
      const network = Processes.found({ validators: 1, roundMs: 50, epochRounds: 600, networkId: "udg-front" })
      const [node] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
      if (node === undefined) throw new Error("no node")
      follower = follow(network, "front", database, node)
      await Processes.until(`the archive begins: ${follower.said()}`, async () => (await position(database)) > 5)
      const one = () => serve(network.genesisFile, database, [node.http ?? ""])
      gateways = [await one(), await one()]
      front = await Nginx.before(network.folder, ...gateways)
    })

    afterAll(async () => {
      await front?.stop()
      for (const { child } of gateways ?? []) child.kill("SIGKILL")
      await follower?.end("SIGKILL")
      await Processes.removeAll()
      await server.remove()
    })

    interface Answer {
      readonly status: number
      readonly code: string
      readonly message: string
    }

    /**
     * nginx balances by client address, so about half of these clients are at each gateway. The limit only ends
     * requests that hang.
     */
    const ask = (client: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
      new Promise((answered, failed) => {
        const options = { host: "127.0.0.1", port: front.port, path, localAddress: `127.0.5.${client}`, agent: false }
        request({ ...options, headers, signal: AbortSignal.timeout(45_000) }, (answer) => {
          let text = ""
          answer.setEncoding("utf8").on("data", (part: string) => (text += part))
          answer.on("error", failed).on("end", () => {
            const { code = "", error = "" } = JSON.parse(text) as { readonly code?: string; readonly error?: string }
            answered({ status: answer.statusCode ?? 0, code, message: error })
          })
        })
          .on("error", failed)
          .end()
      })

    const all = (path: string): Promise<ReadonlyArray<Answer>> =>
      Promise.all(Array.from({ length: CLIENTS }, (_, n) => ask(1 + n, path)))
    const statuses = async (path: string) => new Set((await all(path)).map(({ status }) => status))

    it("serve others while one client asks for a missing commit, and refuse that client themselves", async () => {
      const greedy = Array.from({ length: 40 }, (_, n) =>
        ask(100 + (n % 10), "/transactions", { "udg-commit": "99999999" }),
      )
      for (let n = 0; n < 5; n++) expect(await statuses("/transactions")).toEqual(new Set([200]))
      for (const refused of await Promise.all(greedy)) {
        expect(refused).toMatchObject({ status: 503, code: "Unavailable" })
        expect(refused.message).toContain("99999999")
      }
      expect(await statuses("/transactions")).toEqual(new Set([200]))
    })

    it("serve the clients of a hanging one", async () => {
      const [, hung] = gateways
      hung.child.kill("SIGSTOP")
      try {
        expect(await statuses("/transactions")).toEqual(new Set([200]))
        // nginx avoids the gateway by now. If every request were held as long as the first ones, these would take many
        // minutes.
        for (let n = 0; n < 20; n++) expect(await statuses("/transactions")).toEqual(new Set([200]))
      } finally {
        hung.child.kill("SIGCONT")
      }
      expect(await statuses("/transactions")).toEqual(new Set([200]))
    })

    it("answer without PostgreSQL as far as possible, and refuse the rest in the API's form", async () => {
      await server.kill()
      try {
        for (let n = 1; n <= 3; n++) {
          // A gateway may answer repeated requests from memory, since nothing can have changed.
          for (const { status, code } of await all(`/balance/${String(n).repeat(40)}`)) {
            expect([status, code]).toEqual([503, "Unavailable"])
          }
          expect(await statuses("/mempool")).toEqual(new Set([200]))
          expect(await statuses("/openapi.json")).toEqual(new Set([200]))
          expect((await all("/keygen")).map(({ code }) => code)).toEqual(Array(CLIENTS).fill("NotServed"))
        }
      } finally {
        await server.start()
      }
      await Processes.until("they answer again", async () => (await get(`${front.url}/transactions`)).status === 200)
    })

    it("are replaced by nginx's refusals in the API's form once both are gone", async () => {
      for (const { child } of gateways) child.kill("SIGKILL")
      for (const { status, code } of await all("/transactions")) expect([status, code]).toEqual([502, "Unavailable"])
    })
  },
)
