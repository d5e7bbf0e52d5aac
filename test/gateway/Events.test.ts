/** The events of gateways over a real PostgreSQL, an archive and nodes, one of which freezes and then dies. */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { position } from "../archive/Comparison.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Processes from "../network/Processes.js"
import * as Rest from "../support/Rest.js"
import { type Gateway, post, serve, signed } from "./Serving.js"

type Event = Client.NumberedEvent["event"]

/** Reads a stream until it ends or is stopped. */
const reading = (url: string) => {
  const events: Array<Event> = []
  let isWanted = true
  let failure: unknown
  const done = (async () => {
    for await (const { event } of Client.connect(url).events()) {
      if (!isWanted) break
      events.push(event)
    }
  })().catch((error: unknown) => {
    failure = error
  })
  return {
    events,
    failure: () => failure,
    stop: () => {
      isWanted = false
      return done
    },
  }
}

const final = (events: ReadonlyArray<Event>): ReadonlyArray<string> =>
  events.flatMap((event) => {
    if (event.type === "vertex") return [`vertex ${event.hash} ${event.round} ${event.reward} ${event.tx_count}`]
    if (event.type !== "transaction" || event.status === "pending") return []
    return [`${event.transaction_type} ${event.hash} ${event.from} ${event.to} ${event.applied}`]
  })

/** The part of `events` between the first and the last event that both lists have. */
const shared = (events: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> => {
  const there = new Set(others)
  const first = events.findIndex((event) => there.has(event))
  const last = events.findLastIndex((event) => there.has(event))
  return events.slice(first, last + 1)
}

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  Rest.of("PostgreSQL, validators, two gateways", "the events of gateways"),
  { timeout: 300_000 },
  () => {
    let server: Server.Server
    let network: Processes.Founded
    let validator: Processes.Started
    let other: Processes.Started
    let follower: Follower
    let left: Gateway
    let right: Gateway
    let nonce = 0
    const friend = Address.fromPublicKey(SecretKey.generate().publicKey)

    const pay = async (url: string): Promise<string> => {
      const operation = { _tag: "Transfer", to: friend, amount: Sats.make(5), memo: "" } as const
      const { json } = signed(network.genesis.networkId, network.rich, nonce++, operation)
      const answer = await post(`${url}/tx/submit`, json)
      expect(answer).toMatchObject({ status: 200 })
      return String(answer.body.tx_hash)
    }

    /** The first event after this number. */
    const first = async (url: string, after: string): Promise<Client.NumberedEvent> => {
      for await (const numbered of Client.connect(url).events(after)) return numbered
      throw new Error("no event")
    }

    beforeAll(async () => {
      server = await Server.make()
      const database = await server.create("events")
      network = Processes.found({ validators: 1, roundMs: 100, epochRounds: 600, networkId: "udg-events" })
      const [started] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
      if (started === undefined) throw new Error("no node")
      validator = started
      other = await Processes.start(network, "other", ["--peer", validator.p2p, "--rate-limits", "off"])
      follower = follow(network, "events", database, validator)
      await Processes.until(`the archive begins: ${follower.said()}`, async () => (await position(database)) > 5)
      // The left gateway listens to the node that will stop.
      left = await serve(network.genesisFile, database, [other.http ?? "", validator.http ?? ""])
      right = await serve(network.genesisFile, database, [validator.http ?? ""])
    })

    afterAll(async () => {
      for (const gateway of [left, right]) gateway?.child.kill("SIGKILL")
      await follower?.end("SIGKILL")
      await Processes.removeAll()
      await server.remove()
    })

    it("report a payment once as pending and once as final, when it can be read at once", async () => {
      const client = Client.connect(left.url)
      const about: Array<Event> = []
      let hash: string | undefined
      for await (const { event } of client.events()) {
        hash ??= await pay(right.url)
        if (event.type === "round") {
          const { last_finalized_round: known } = await client.core.status()
          expect(known).toBeGreaterThanOrEqual(event.finalized_round)
        }
        if (event.type === "vertex") await client.dag.vertex({ path: { hash: event.hash } })
        if (event.type !== "transaction" || event.hash !== hash) continue
        about.push(event)
        if (event.status === "pending") continue
        expect(await client.transactions.lookup({ path: { hash: event.hash } })).toMatchObject({ status: "finalized" })
        expect((await client.core.balance({ path: { address: friend } })).balance).toBe(5)
        break
      }
      expect(about).toMatchObject([
        { status: "pending", applied: null, transaction_type: "Transfer", to: friend },
        { status: "finalized", applied: true, transaction_type: "Transfer", to: friend },
      ])
    })

    it("resume after a number of this gateway, and begin with a reset after another gateway's or a node's", async () => {
      const numbers = new Map<string, string>()
      for (const url of [left.url, right.url, validator.http ?? ""])
        for await (const { id } of Client.connect(url).events()) {
          numbers.set(url, id)
          break
        }
      for (const at of [left.url, right.url])
        for (const [of, id] of numbers) {
          const { id: next, event } = await first(at, id)
          if (at === of) expect(Number(next)).toBe(Number(id) + 1)
          else expect([at, of, event]).toEqual([at, of, { type: "reset", message: expect.stringContaining("missed") }])
        }
    })

    it("are limited to the requested types and account", async () => {
      await pay(left.url)
      const seen: Array<Event> = []
      for await (const { event } of Client.connect(left.url).events(undefined, { account: friend })) {
        seen.push(event)
        if (seen.length === 1) await pay(left.url)
        if (seen.length === 3) break
      }
      for (const event of seen) expect(event).toMatchObject({ type: "transaction", to: friend })
      const refused = await fetch(`${left.url}/events?account=@nobody`)
      expect([refused.status, await refused.json()]).toMatchObject([404, { code: "NameNotFound" }])
    })

    it("are neither lost nor doubled when the gateway's node falls silent and then dies", async () => {
      const readers = [reading(left.url), reading(right.url), reading(validator.http ?? "")] as const
      const sent: Array<string> = []
      const paying = async (times: number) => {
        for (let n = 0; n < times; n++) {
          sent.push(await pay(right.url))
          await sleep(50)
        }
      }
      const isToldBy = (reader: { readonly events: ReadonlyArray<Event> }, status: string, hash = sent.at(-1)) =>
        reader.events.some((event) => event.type === "transaction" && event.status === status && event.hash === hash)
      await Processes.until("streams are open", () => readers.every(({ events }) => events.length > 0))
      await paying(20)
      process.kill(other.pid, "SIGSTOP")
      await paying(20)
      // By now the gateway listens to the other node, and has reported transactions that became pending or final
      // meanwhile.
      await Processes.until("a new payment is told pending again", async () => {
        await paying(1)
        await sleep(300)
        return isToldBy(readers[0], "pending")
      })
      process.kill(other.pid, "SIGCONT")
      await paying(10)
      await other.kill()
      await paying(20)
      await Processes.until("all are told", () => readers.every((reader) => isToldBy(reader, "finalized")))
      await Promise.all(readers.map(({ stop }) => stop()))
      expect(readers.map(({ failure }) => failure())).toEqual([undefined, undefined, undefined])

      const [ofLeft, ofRight, ofNode] = readers.map(({ events }) => events)
      for (const events of [ofLeft ?? [], ofRight ?? []]) {
        const told = final(events)
        expect(new Set(told).size).toBe(told.length)
        expect(shared(told, final(ofNode ?? []))).toEqual(shared(final(ofNode ?? []), told))
        for (const hash of sent) {
          const about = events.flatMap((event) =>
            event.type === "transaction" && event.hash === hash ? [event.status] : [],
          )
          expect(["pending finalized", "finalized"]).toContain(about.join(" "))
        }
        const rounds = events.flatMap((event) => (event.type === "round" ? [event] : []))
        expect(rounds.map(({ round }) => round)).toEqual(rounds.map(({ round }) => round).sort((a, b) => a - b))
        for (const { round, finalized_round } of rounds) expect(round).toBeGreaterThanOrEqual(finalized_round)
      }
      // The node of this gateway kept running. It may also report a payment that an earlier test left pending.
      const pending = (ofRight ?? []).flatMap((event) =>
        event.type === "transaction" && event.status === "pending" ? [event.hash] : [],
      )
      expect(pending).toEqual(expect.arrayContaining(sent))
    })
  },
)
