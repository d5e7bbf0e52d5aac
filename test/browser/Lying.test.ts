/** What the explorer shows when a node lies about a balance: a real node, with responses changed on the way. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { Option } from "effect"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as History from "../light/History.js"
import * as RealNode from "../rpc/RealNode.js"
import { forTests } from "../support/forTests.js"
import * as Axe from "./Axe.js"
import * as Visitor from "./Visitor.js"

type Json = Record<string, unknown>

const signerOf = History.signing()
const alice = History.addressOf("alice")
const coins = (sats: number) => sats / 100_000_000

/** A network of four validators, three of which sign. */
const networkOf = (shape: Omit<History.Shape, "size" | "signerOf">): History.History => {
  const made = History.make({ size: 4, signerOf, ...shape })
  return { ...made, running: History.resigned(made.running, (list) => list.slice(0, 3)) }
}

const three = networkOf({ last: 3 })
/** The same network an epoch later. */
const four = networkOf({ last: 4 })

/** The responses to change; all others come from the real node. */
interface Story {
  readonly history: History.History
  readonly state?: typeof History.trie
  /** For `GET /balance`. */
  readonly balance?: number
  readonly proof?: (honest: Json) => Json
  readonly genesis?: string
}

const node = forTests(() => RealNode.start({ roundMs: Option.some(250) }))
const visitor = Visitor.forTests()
let story: Story = { history: three }
const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
let url: string

/** The response of the real node, which does not know Alice. */
const real = async (path: string): Promise<Json> => {
  const json: unknown = await (await fetch(`${node().url}${path}`)).json()
  return { ...(json as Json) }
}

const told = async (path: string): Promise<Json | undefined> => {
  const { history, state, balance = History.alice.balance, proof = (honest: Json) => honest, genesis } = story
  const { closing, running } = history
  const round = running.checkpoint.round
  if (path === "/status") return { ...(await real(path)), last_finalized_round: round + 5 }
  if (path === "/network") return { ...(await real(path)), ...(genesis === undefined ? {} : { genesis_hash: genesis }) }
  if (path === "/checkpoint/latest") return History.checkpointJson(running)
  if (path.startsWith("/proof/")) return proof(History.accountJson(alice, running, state))
  if (path.startsWith("/balance/")) {
    return {
      ...(await real(`/balance/${alice}`)),
      balance,
      balance_coin: coins(balance),
      nonce: 7,
      next_nonce: 7,
      name: "alice",
    }
  }
  const closed = closing[Number(/^\/checkpoint\/epoch\/(\d+)$/.exec(path)?.[1] ?? 0) - 1]
  return closed && History.checkpointJson(closed)
}

const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
  const { url: path = "/", headers, method } = incoming
  const json = await told(path)
  if (json !== undefined) {
    outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(json))
    return
  }
  const asked = request({ port: node().port, path, method, headers }, (answered) => {
    outgoing.writeHead(answered.statusCode ?? 500, answered.headers)
    answered.pipe(outgoing)
  })
  asked.on("error", () => outgoing.destroy())
  outgoing.on("close", () => asked.destroy())
  incoming.pipe(asked)
}

beforeAll(async () => {
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle))
  const address = server.address()
  url = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : ""
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
})

/** The account's page, in a browser that has seen the honest network before. */
const acquainted = async (account: string = alice): Promise<Page> => {
  story = { history: three }
  const page = await visitor.visit(`${url}/explorer/address/${account}`)
  await page.getByText("signed by 3 of 4").waitFor()
  return page
}

const shown = process.env["UDG_SCREENSHOTS"]

const alarm = async (page: Page, name: string): Promise<string> => {
  await page.getByRole("alert").waitFor()
  if (shown !== undefined) await page.screenshot({ path: `${shown}/${name}.png` })
  expect(await Axe.seriousOn(page)).toEqual([])
  expect(await page.locator(".checked").count()).toBe(0)
  return (await page.getByRole("alert").textContent()) ?? ""
}

describe("a balance in the explorer", () => {
  it.each([alice, "@alice"])("is checked against a checkpoint, and shows its signers: %s", async (account) => {
    const page = await acquainted(account)
    expect(await page.locator(".checked").textContent()).toBe("checked against checkpoint 140, signed by 3 of 4")
    if (shown !== undefined) await page.screenshot({ path: `${shown}/checked.png` })
    expect(await Axe.seriousOn(page)).toEqual([])
  })

  it("that differs from the proven one is marked as a claim, and as false if it still differs after a checkpoint", async () => {
    const page = await acquainted()
    story = { history: three, balance: 1e14 }
    await page.reload()
    await page.getByText("proof pending").waitFor()
    expect(await page.locator(".checked").textContent()).toMatch(
      /^proof pending next checkpoint (?:any moment|in about [^;]+); 1,500\.00 UDG at checkpoint 140/,
    )
    story = { history: four, balance: 1e14 }
    expect(await alarm(page, "balance")).toBe(
      "Do not rely on this balance. This node's answer does not hold: " +
        "at checkpoint 180 a quorum signed another balance than the node has shown since round 145.",
    )
  })

  it.each<readonly [string, Story, RegExp]>([
    [
      "whose proof is of another state is refused",
      { history: three, balance: 1e15, proof: () => History.accountJson(alice, three.running, History.richTrie) },
      /its proof of account [0-9a-f]{40} is invalid/,
    ],
    [
      "under a forged checkpoint is refused",
      {
        history: networkOf({
          last: 3,
          story: "theirs",
          from: 4,
          state: History.richTrie,
          signedAs: (epoch) => epoch + 500,
        }),
        state: History.richTrie,
        balance: 1e15,
      },
      /no quorum of the committee of epoch 4 signed its checkpoint of epoch 4/,
    ],
    [
      "that an old committee signed is refused",
      {
        history: { ...three, running: three.sign(three.running.checkpoint, 1) },
      },
      /no quorum of the committee of epoch 4 signed its checkpoint of epoch 4/,
    ],
    [
      "of another history is refused",
      { history: networkOf({ last: 3, story: "theirs", from: 2, state: History.richTrie }), state: History.richTrie },
      /epoch 3 closed with checkpoint [0-9a-f]{8}…, but it has [0-9a-f]{8}…/,
    ],
    [
      "of another network is refused",
      { history: three, genesis: "ab".repeat(32) },
      /claims to belong to another network than the one this browser trusts/,
    ],
  ])("%s", async (name, lie, reason) => {
    const page = await acquainted()
    story = lie
    await page.reload()
    expect(await alarm(page, name.replaceAll(" ", "-"))).toMatch(reason)
  })

  it("is checked from the checkpoint that the reader entered", async () => {
    const page = await acquainted()
    const [, , third] = three.closing
    await page.getByText("What the check rests on").click()
    await page.getByText("the newest when this browser first asked").waitFor()
    const field = page.getByLabel("Closing checkpoint, EPOCH:HASH")
    await field.fill("3:nonsense")
    await page.getByRole("button", { name: "Trust this checkpoint" }).click()
    expect(await page.getByRole("alert").textContent()).toContain("64 hex characters")
    await field.fill(`3:${"ab".repeat(32)}`)
    await page.getByRole("button", { name: "Trust this checkpoint" }).click()
    await page.getByText("epoch 3 closed with checkpoint abababab…").waitFor()
    await field.fill(`3:${third?.checkpoint.hash}`)
    await page.getByRole("button", { name: "Trust this checkpoint" }).click()
    await page.getByText("signed by 3 of 4").waitFor()
    await page.getByText("entered here").waitFor()
    expect(await Axe.seriousOn(page)).toEqual([])
  })
})
