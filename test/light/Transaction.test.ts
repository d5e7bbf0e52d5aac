/** Proofs of transactions by a real node, and by nodes that lie about them. */
import { Either } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import * as Light from "../../src/light/Light.js"
import { startNode } from "../../src/testing/Testing.js"
import { forTests } from "../support/forTests.js"
import * as Liar from "./Liar.js"

const node = forTests(() => startNode({ accounts: 2 }))
/** In the first epoch. */
let payment: string
/** In another vertex. */
let later: string

beforeAll(async () => {
  const [alice, bob] = node().accounts
  if (alice === undefined || bob === undefined) throw new Error("two expected")
  const { client } = node()
  const pay = async (nonce: number) => {
    const transaction = alice.transfer({ to: bob.address, amount: 5, fee: 1_000, nonce })
    return (await client.sendAndWait(transaction)).hash
  }
  payment = await pay(0)
  later = await pay(1)
  // Waits for a checkpoint of the second epoch, so that there are steps to verify.
  while ((await client.checkpoints.latest().catch(() => ({ epoch: 0 }))).epoch < 3) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})

const prove = (urls: ReadonlyArray<string>, hash = payment, trust = Light.genesis(node().genesis)) =>
  Light.client({ trust, nodes: urls }).transaction(hash)

/** The result for each node. */
const tagsOf = async (urls: ReadonlyArray<string>, ...more: [hash?: string, trust?: Light.Trust]) => {
  const outcome = await prove(urls, ...more).catch((error: unknown) => {
    if (error instanceof Light.NotProven) return error
    throw error
  })
  return outcome.nodes.map(({ outcome }) =>
    Either.match(outcome, { onLeft: ({ _tag }) => _tag, onRight: () => "proven" }),
  )
}

describe("a transaction", () => {
  it("is proven to be in the vertex and under the commit that the node names", async () => {
    const { proven } = await prove([node().url])
    const { round, vertex_hash, transaction } = await node().client.transactions.lookup({ path: { hash: payment } })
    expect(proven).toMatchObject({
      transaction: { id: payment, from: transaction.from, fee: 1_000 },
      vertex: { hash: vertex_hash, round },
      signed: { by: 1, of: 1 },
    })
    expect(proven.commit.index).toBeLessThanOrEqual(proven.checkpoint.commitIndex)
    const sender = await Light.client({ trust: Light.genesis(node().genesis), nodes: [node().url] }).account(
      transaction.from,
    )
    expect(Light.hasUsed(sender.proven, proven.transaction.nonce)).toBe(true)
  })

  it("is proven after later accounts, since the way begins at the first trust", async () => {
    const client = Light.client({ trust: Light.genesis(node().genesis), nodes: [node().url] })
    await client.account("ab".repeat(20))
    expect((await client.transaction(later)).proven.transaction.id).toBe(later)
  })

  it("before the trusted checkpoint is out of reach, without blame", async () => {
    const { epoch, hash } = await node().client.checkpoints.closing({ path: { epoch: 2 } })
    expect(await tagsOf([node().url], payment, Light.checkpoint(epoch, hash, "testnet"))).toEqual(["TooEarly"])
  })

  it("that no node knows proves nothing", async () => {
    expect(await tagsOf([node().url], "00".repeat(32))).toEqual(["Declined"])
    await expect(prove([node().url], "nonsense")).rejects.toThrow(Light.InvalidInput)
  })
})

type Json = Record<string, unknown>

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const listOf = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.filter(isRecord) : [])

const lastDigit = (hex: unknown): string => `${String(hex).slice(0, -1)}${String(hex).endsWith("0") ? "1" : "0"}`

describe("a node that lies about a transaction is named", () => {
  it.each<readonly [string, string, (honest: Json) => Json]>([
    ["another hash", "OtherAnswer", (honest) => ({ ...honest, hash: "ab".repeat(32) })],
    ["another network", "OtherAnswer", (honest) => ({ ...honest, network_id: "theirs" })],
    ["a changed vertex", "FalseInclusion", ({ vertex, ...rest }) => ({ ...rest, vertex: lastDigit(vertex) })],
    ["no vertex", "FalseInclusion", (honest) => ({ ...honest, vertex: "00" })],
    ["hex that is none", "Malformed", (honest) => ({ ...honest, vertex: "zz" })],
    [
      "another leader",
      "FalseInclusion",
      ({ commits, ...rest }) => ({
        ...rest,
        commits: listOf(commits).map((commit, i) => (i === 0 ? { ...commit, leader_hash: "ab".repeat(32) } : commit)),
      }),
    ],
    [
      "a commit too few",
      "FalseInclusion",
      ({ commits, ...rest }) => ({ ...rest, commits: listOf(commits).slice(0, -1) }),
    ],
    ["no commits", "Malformed", (honest) => ({ ...honest, commits: [] })],
    [
      "a checkpoint of its own",
      "Malformed",
      ({ checkpoint, ...rest }) => ({
        ...rest,
        checkpoint: { ...(isRecord(checkpoint) ? checkpoint : {}), commit_hash: "ab".repeat(32) },
      }),
    ],
    [
      "a checkpoint without signatures",
      "Unsigned",
      ({ checkpoint, ...rest }) => ({
        ...rest,
        checkpoint: { ...(isRecord(checkpoint) ? checkpoint : {}), signatures: [] },
      }),
    ],
  ])("with %s", async (_, tag, lie) => {
    await using liar = await Liar.start(node().url, (honest, path) =>
      path.startsWith("/proof/tx/") ? lie(honest) : honest,
    )
    expect(await tagsOf([liar.url, node().url])).toEqual([tag, "proven"])
    expect(await tagsOf([liar.url])).toEqual([tag])
  })

  it("with the proof of another transaction under its hash", async () => {
    const other: unknown = await (await fetch(`${node().url}/proof/tx/${later}`)).json()
    await using liar = await Liar.start(node().url, (honest, path) =>
      path.startsWith("/proof/tx/") && isRecord(other) ? { ...other, hash: payment } : honest,
    )
    expect(await tagsOf([liar.url, node().url])).toEqual(["FalseInclusion", "proven"])
  })
})
