/**
 * The client against lying nodes over HTTP: a real node behind a proxy that changes its responses, and simulated
 * networks.
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { Either, Option } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import * as Light from "../../src/light/Light.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { type FundedAccount, startNode } from "../../src/testing/Testing.js"
import { forTests } from "../support/forTests.js"
import * as Stranger from "../testing/Stranger.js"
import * as History from "./History.js"
import * as Liar from "./Liar.js"

const COIN = 100_000_000

const node = forTests(() => startNode({ accounts: 2, coinsEach: 500_000 }))
let alice: FundedAccount
beforeAll(async () => {
  const [first] = node().accounts
  if (first === undefined) throw new Error("two expected")
  alice = first
  const named = await node().client.transactions.submit({
    payload: alice.registerName({ name: "alice", fee: 1_000_000, nonce: 0 }),
  })
  await node().finalized(named.tx_hash)
  const staked = await node().client.transactions.submit({ payload: alice.stake({ amount: 250_000 * COIN, nonce: 1 }) })
  await node().finalized(staked.tx_hash)
  // Waits for a checkpoint of the third epoch that includes all of this, so that there are steps to verify.
  const { last_finalized_round } = await node().client.core.status()
  const least = Math.max(last_finalized_round, 81)
  for (;;) {
    const round = await node()
      .client.checkpoints.latest()
      .then(
        ({ round }) => round,
        () => 0,
      )
    if (round >= least) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})

type Outcome = Light.Report | Light.NotProven

const outcomeOf = (client: Light.Client, text: string = alice.address): Promise<Outcome> =>
  client.account(text).catch((error: unknown) => {
    if (error instanceof Light.NotProven) return error
    throw error
  })

/** The result for each node: the checkpoint of its proof, or its refusal. */
const tagsOf = ({ nodes }: Outcome): ReadonlyArray<string> =>
  nodes.map(({ outcome }) => Either.match(outcome, { onLeft: ({ _tag }) => _tag, onRight: () => "proven" }))

const ask = async (trust: Light.Trust, urls: ReadonlyArray<string>, options: Light.Options = {}, text?: string) =>
  outcomeOf(Light.client({ trust, nodes: urls, ...options }), text)

const asReport = (outcome: Outcome): Light.Report => {
  if (outcome instanceof Light.NotProven) throw outcome
  return outcome
}

const trust = () => Light.genesis(node().genesis)

describe("the light client's page", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/light-client.md"), "utf8")
  const programs = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, text = ""]) => text)

  it("has a program that proves a balance with the built package", async () => {
    const { genesis } = node()
    await using site = await Liar.start((path) => (path === "/genesis.json" ? { ...genesis } : undefined))
    const [program = "no program"] = programs
    const here = program
      .replace("/genesis.json", `${site.url}/genesis.json`)
      .replace(/https:\/\/node-[12]\.example/g, node().url)
    const { said, code } = await Stranger.run(here)
    expect(said).toMatch(/^\d{13,} \d+ \{ by: 1, of: 1 \} \[\n/)
    expect(code).toBe(0)
  })
})

describe("a check of an honest node", () => {
  it("proves balance, nonce, stake and name from the genesis on", async () => {
    const { proven, node: by } = asReport(await ask(trust(), [`${node().url}/`]))
    expect(by).toBe(node().url)
    expect(proven).toMatchObject({
      address: alice.address,
      account: { nonce: 2, name: "alice", stake: { amount: 250_000 * COIN, leaving: null } },
      signed: { by: 1, of: 1 },
    })
    expect(proven.account.balance).toBeGreaterThan(249_000 * COIN)
    expect(Light.hasUsed(proven, Natural.nonce(1))).toBe(true)
    expect(Light.hasUsed(proven, Natural.nonce(2))).toBe(false)
  })

  it("accepts an account in every form, and proves that an account does not exist", async () => {
    for (const text of [alice.addressBech32, "@alice"]) {
      expect(asReport(await ask(trust(), [node().url], {}, text)).proven.address).toBe(alice.address)
    }
    const { proven } = asReport(await ask(trust(), [node().url], {}, "ab".repeat(20)))
    expect(proven.account).toMatchObject({ balance: 0, nonce: 0 })
    await expect(ask(trust(), [node().url], {}, "udg1nonsense")).rejects.toThrow(Light.InvalidInput)
    const nobody = await ask(trust(), [node().url], {}, "@nobody")
    expect(tagsOf(nobody)).toEqual(["Declined"])
  })

  it("continues from the proven checkpoint: the next check asks only for the account", async () => {
    await using server = await Liar.start(node().url)
    const client = Light.client({ trust: trust(), nodes: [server.url] })
    const first = asReport(await client.account("@alice"))
    expect(server.asked.slice(0, 2)).toEqual([
      "/proof/@alice",
      `/checkpoint/epoch/${first.proven.checkpoint.epoch - 1}`,
    ])
    const before = server.asked.length
    const second = asReport(await client.account("@alice"))
    const isSameEpoch = second.proven.checkpoint.epoch === first.proven.checkpoint.epoch
    expect(server.asked.length - before).toBe(isSameEpoch ? 1 : 2)
    expect(second.proven.checkpoint.round).toBeGreaterThanOrEqual(first.proven.checkpoint.round)
  })

  it("continues, in another program too, from a checkpoint by its epoch and hash", async () => {
    const before = asReport(await ask(trust(), [node().url]))
    const pin = Light.pinOf(before.trust)
    expect(Light.pinOf(trust())).toBeNull()
    const kept = Light.checkpoint(pin?.epoch ?? 0, pin?.hash ?? "", "testnet")
    expect(Light.pinOf(kept)).toEqual(pin)
    expect(asReport(await ask(kept, [node().url])).proven.address).toBe(alice.address)
    const other = Light.checkpoint(pin?.epoch ?? 0, "ab".repeat(32), "testnet")
    expect(tagsOf(await ask(other, [node().url]))).toEqual(["OtherCheckpoint"])
    expect(() => Light.checkpoint(0, "ab".repeat(32), "testnet")).toThrow(Light.InvalidInput)
    expect(() => Light.checkpoint(1, "ab", "testnet")).toThrow(Light.InvalidInput)
  })

  it("of another network finds that its committee is not of this genesis", async () => {
    await using other = await startNode()
    for (;;) {
      const tags = tagsOf(await ask(trust(), [other.url]))
      if (tags[0] !== "Declined") {
        expect(tags).toEqual(["Unsigned"])
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
})

/** A lie in the responses to these paths. */
const at =
  (start: string, lie: Liar.Lie): Liar.Lie =>
  (honest, path) =>
    path.startsWith(start) ? lie(honest, path) : honest

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {}

const KEEP_OPEN = { "content-type": "application/json" }
/** The honest node has the same limit. */
const SHORT = { answerWithinMs: 1_500 }

describe("a lying node is named, and the honest node's proof is shown", () => {
  it.each<[string, string, Liar.Lie, Light.Options]>([
    [
      "with more money in the record",
      "FalseProof",
      at("/proof", (honest) => ({ ...honest, record: String(honest["record"]).replace("01", "02") })),
      {},
    ],
    [
      "with more money in the leaf",
      "FalseProof",
      at("/proof", (honest) => {
        const { siblings, leaf } = record(honest["proof"])
        const changed = (Array.isArray(leaf) ? leaf : []).map((entry: unknown) => {
          const { key, value } = record(entry)
          return { key, value: key === honest["key"] ? `${String(value).slice(0, -2)}ff` : value }
        })
        return { ...honest, proof: { siblings, leaf: changed } }
      }),
      {},
    ],
    [
      "with the account of another",
      "OtherAnswer",
      at("/proof", (honest) => ({ ...honest, address: "ab".repeat(20) })),
      {},
    ],
    [
      "about the state's root",
      "Malformed",
      at("/proof", (honest) => ({
        ...honest,
        checkpoint: { ...record(honest["checkpoint"]), state_root: "ab".repeat(32) },
      })),
      {},
    ],
    [
      "with signatures of nobody",
      "Unsigned",
      at("/proof", (honest) => ({ ...honest, checkpoint: { ...record(honest["checkpoint"]), signatures: [] } })),
      {},
    ],
    [
      "about the protocol's version",
      "Malformed",
      at("/checkpoint", (honest) => {
        const next = record(honest["next_epoch"])
        return { ...honest, next_epoch: { ...next, rules: { ...record(next["rules"]), protocol_version: 9 } } }
      }),
      {},
    ],
    ["about the epochs before", "Unsigned", at("/checkpoint", (honest) => ({ ...honest, signatures: [] })), {}],
    ["with garbage", "Malformed", () => (outgoing) => outgoing.writeHead(200).end("<html>"), {}],
    ["with an error", "Declined", () => (outgoing) => outgoing.writeHead(500).end("{}"), {}],
    [
      "by sending the client elsewhere",
      "Unreachable",
      () => (outgoing) => outgoing.writeHead(302, { location: `${node().url}/status` }).end(),
      {},
    ],
    ["by hanging up", "Unreachable", () => (outgoing) => outgoing.destroy(), {}],
    [
      "by hanging up in the middle",
      "Unreachable",
      () => (outgoing) => {
        outgoing.writeHead(200, KEEP_OPEN).write("{", () => outgoing.destroy())
      },
      {},
    ],
    ["by saying nothing", "Silent", () => () => undefined, SHORT],
    [
      "by beginning and never ending",
      "Silent",
      () => (outgoing) => void outgoing.writeHead(200, KEEP_OPEN).write("{"),
      SHORT,
    ],
    [
      "with a length that no answer has",
      "TooLong",
      () => (outgoing) => void outgoing.writeHead(200, { "content-length": "9000000000" }).write("{"),
      {},
    ],
    [
      "with a body that has no end",
      "TooLong",
      () => (outgoing) => {
        outgoing.writeHead(200, KEEP_OPEN)
        const piece = " ".repeat(65_536)
        const more = (): void => {
          while (outgoing.writable && outgoing.write(piece));
          outgoing.once("drain", more)
        }
        more()
      },
      {},
    ],
  ])("%s", async (_, tag, lie, options) => {
    await using liar = await Liar.start(node().url, lie)
    const outcome = asReport(await ask(trust(), [liar.url, node().url], options))
    expect(tagsOf(outcome)).toEqual([tag, "proven"])
    expect(outcome.node).toBe(node().url)
    expect(outcome.proven.account.name).toBe("alice")
    const alone = await ask(trust(), [liar.url], options)
    expect(alone).toBeInstanceOf(Light.NotProven)
    expect(tagsOf(alone)).toEqual([tag])
    if (alone instanceof Light.NotProven) expect(alone.message).toContain(`${liar.url}: `)
  })

  it("by not responding", async () => {
    const liar = await Liar.start(node().url)
    await liar[Symbol.asyncDispose]()
    expect(tagsOf(await ask(trust(), [liar.url, node().url]))).toEqual(["Unreachable", "proven"])
  })

  it("with an old response, once the client knows a newer one", async () => {
    const old = record(await (await fetch(`${node().url}/proof/${alice.address}`)).json())
    const round = Number(record(old["checkpoint"])["round"])
    await using liar = await Liar.start(
      node().url,
      at("/proof", () => old),
    )
    expect(tagsOf(await ask(trust(), [liar.url]))).toEqual(["proven"])
    const outcome = await ask(trust(), [liar.url], { fromRound: round + 1 })
    expect(tagsOf(outcome)).toEqual(["Stale"])
    const refusals = outcome.nodes.flatMap(({ outcome }) => Option.toArray(Either.getLeft(outcome)))
    expect(refusals).toMatchObject([{ round, known: round + 1, verdict: "behind" }])
  })

  it("with each response in time, but not all of them together", async () => {
    await using liar = await Liar.start(node().url, (honest) => (outgoing) => {
      setTimeout(() => outgoing.writeHead(200).end(JSON.stringify(honest)), 200)
    })
    expect(tagsOf(await ask(trust(), [liar.url], { checkWithinMs: 100 }))).toEqual(["Silent"])
  })
})

describe("an invented network", () => {
  const signerOf = History.signing()
  const address = History.addressOf("alice")
  const serving =
    (history: History.History, state = History.trie) =>
    (path: string) => {
      if (path.startsWith("/proof/")) return History.accountJson(address, history.running, state)
      const closing = history.closing[Number(path.slice("/checkpoint/epoch/".length)) - 1]
      return closing === undefined ? undefined : History.checkpointJson(closing)
    }
  const ours = History.make({ last: 20, signerOf })
  /** Epoch 2 of this history is trusted by the hash of its first checkpoint. */
  const [{ checkpoint: first } = never()] = ours.closing
  const trust = Light.checkpoint(1, first.hash, "testnet")
  const check = (urls: ReadonlyArray<string>, options?: Light.Options) => ask(trust, urls, options, address)

  it("is followed through changing committees, by a few of its checkpoints", async () => {
    await using server = await Liar.start(serving(ours))
    const { proven } = asReport(await check([server.url]))
    expect(proven).toMatchObject({ account: History.alice, signed: { by: 6, of: 6 } })
    expect(server.asked.length).toBeLessThan(20)
  })

  it("is refused where a forged committee signs, or the keys of an old one", async () => {
    const forged = History.make({ last: 20, signerOf, story: "theirs", from: 2, signedAs: (epoch) => epoch + 500 })
    await using forger = await Liar.start((path) =>
      path === "/checkpoint/epoch/1" ? History.checkpointJson(ours.closing[0] ?? never()) : serving(forged)(path),
    )
    await using server = await Liar.start(serving(ours))
    expect(tagsOf(await check([forger.url, server.url]))).toEqual(["Unsigned", "proven"])
    const aged = { ...ours, running: ours.sign(ours.running.checkpoint, 9) }
    await using old = await Liar.start(serving(aged))
    expect(tagsOf(await check([old.url, server.url]))).toEqual(["Unsigned", "proven"])
  })

  it.each([
    ["the same length", 20],
    ["a shorter one", 15],
    ["a longer one", 30],
  ])("with two histories that a quorum signed, of %s, is shown as neither", async (_, last) => {
    const theirs = History.make({ last, signerOf, story: "theirs", from: 10, state: History.richTrie })
    await using server = await Liar.start(serving(ours))
    await using other = await Liar.start(serving(theirs, History.richTrie))
    const outcome = await check([server.url, other.url])
    expect(outcome).toMatchObject({ conflict: { _tag: "Conflict" } })
    expect(tagsOf(outcome)).toEqual(["proven", "proven"])
  })

  it("is refused from an unknown protocol version on, even with an outdated node's proof", async () => {
    const versionOf = (epoch: number) => (epoch < 15 ? 2 : epoch < 18 ? 3 : 4)
    const ahead = History.make({ last: 20, signerOf, versionOf })
    const [{ checkpoint } = never()] = ahead.closing
    const start = Light.checkpoint(1, checkpoint.hash, "testnet")
    const before = History.make({ last: 16, signerOf, versionOf })
    const fork = History.make({ last: 20, signerOf, versionOf: (epoch) => Math.min(3, versionOf(epoch)) })
    await using newer = await Liar.start(serving(ahead))
    await using stopped = await Liar.start(serving(before))
    await using forked = await Liar.start(serving(fork))
    const judged = async (...servers: ReadonlyArray<{ readonly url: string }>) => {
      const outcome = await ask(
        start,
        servers.map(({ url }) => url),
        {},
        address,
      )
      return [outcome instanceof Light.NotProven, ...tagsOf(outcome)]
    }
    expect(await judged(newer)).toEqual([true, "UnknownVersion"])
    expect(await judged(stopped)).toEqual([false, "proven"])
    expect(await judged(stopped, newer)).toEqual([true, "proven", "UnknownVersion"])
    expect(await judged(forked, newer)).toEqual([true, "proven", "UnknownVersion"])
    const unknown = ahead.closing[16] ?? never()
    const pinned = Light.checkpoint(17, unknown.checkpoint.hash, "testnet")
    expect(tagsOf(await ask(pinned, [newer.url], {}, address))).toEqual(["UnknownVersion"])
  })

  it("is shown by the honest node where another claims a version that no quorum signed", async () => {
    const claiming = History.make({
      last: 20,
      signerOf,
      signedAs: (epoch) => (epoch < 2 ? epoch : epoch + 500),
      versionOf: (epoch) => (epoch < 3 ? 2 : epoch < 4 ? 3 : 4),
    })
    await using liar = await Liar.start(serving(claiming))
    await using server = await Liar.start(serving(ours))
    expect(tagsOf(await check([liar.url, server.url]))).toEqual(["Unsigned", "proven"])
  })

  it("is shown as neither where a quorum signed two versions for one epoch", async () => {
    const raised = History.make({ last: 20, signerOf, versionOf: (epoch) => (epoch < 20 ? 2 : 3) })
    await using server = await Liar.start(serving(ours))
    await using other = await Liar.start(serving(raised))
    expect(await check([server.url, other.url])).toMatchObject({ conflict: { _tag: "Conflict" } })
  })

  it("proves nothing by a checkpoint of an impossible epoch, and ends soon", async () => {
    const far = Checkpoint.make({ ...ours.running.checkpoint, epoch: Natural.epoch(2 ** 52) })
    await using liar = await Liar.start((path) => {
      if (path.startsWith("/proof/")) return History.accountJson(address, ours.sign(far, 21))
      const epoch = Number(path.slice("/checkpoint/epoch/".length))
      if (epoch <= 20) return serving(ours)(path)
      const nextEpoch = { ...ours.committeeOf(21), epoch: Natural.epoch(epoch + 1) }
      const checkpoint = Checkpoint.make({ ...ours.running.checkpoint, epoch: Natural.epoch(epoch), nextEpoch })
      return History.checkpointJson(ours.sign(checkpoint, 900))
    })
    expect(tagsOf(await check([liar.url]))).toEqual(["Unsigned"])
    expect(liar.asked.length).toBeLessThan(100)
  })
})

const never = (): never => {
  throw new Error("a checkpoint expected")
}
