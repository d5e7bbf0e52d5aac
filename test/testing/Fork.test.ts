import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type * as Client from "../../src/client/Client.js"
import * as StateExport from "../../src/node/offline/StateExport.js"
import { DataDirectory } from "../../src/storage/files/DataDirectory.js"
import * as Storage from "../../src/storage/Storage.js"
import * as StateFile from "../../src/testing/StateFile.js"
import { type StartedNode, startNode } from "../../src/testing/Testing.js"
import { settled } from "../support/Settled.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

const COIN = 100_000_000
const somebody = "00000000000000000000000000000000000000aa"

const folder = TemporaryFolder.forTests("fork-test")
let file = ""
let live: StartedNode
let alice = ""
let bob = ""
let carol = ""
let dora = ""

/** The output of `udg db export` for a network that was dumped. */
const exported = async (dump: Uint8Array): Promise<string> => {
  const { genesis, files } = await Effect.runPromise(StateFile.decode(dump))
  const directory = join(folder, "data")
  mkdirSync(directory)
  for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes)
  const path = join(folder, "state.udg")
  await Effect.gen(function* () {
    const held = yield* DataDirectory.open(directory)
    yield* Effect.provide(StateExport.exportTo(path, genesis), Storage.layerToRead(held, genesis))
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer), Effect.runPromise)
  return path
}

/** Everything that clients can read of the state, except the validator, whose rewards continue. */
const seen = async (client: Client.PromiseClient) => {
  const accounts = await Promise.all(
    [alice, bob, carol, dora, somebody].map(async (address) => {
      const { next_nonce: _, ...account } = await client.balance(address)
      return account
    }),
  )
  return {
    accounts,
    policy: await client.core.policy({ path: { address: carol } }),
    proposal: await client.governance.proposal({ path: { id: 1 } }),
    delegation: await client.delegation.delegationOf({ path: { address: dora } }),
  }
}

beforeAll(async () => {
  live = await startNode({
    onDemand: true,
    snapshots: true,
    accounts: 4,
    seed: "live",
    parameters: { votingPeriodRounds: 100_000 },
  })
  const [a, b, c, d] = live.accounts.map(({ secretKey }) => live.client.account(secretKey))
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error("no accounts")
  alice = a.address
  bob = b.address
  carol = c.address
  dora = d.address
  await a.registerName({ name: "alice" })
  await a.stake({ amount: 3_000 * COIN })
  await b.send({ to: somebody, amount: 7 * COIN })
  await a.createProposal({ title: "Onwards", description: "Let it go on", proposal_type: { Text: {} } })
  await c.setAccountPolicy({ threshold: 2, keys: [a.publicKey, b.publicKey] })
  const [validator] = (await live.client.staking.validators()).validators
  await d.delegate({ validator: validator?.address ?? "", amount: 100 * COIN })
  await live.controls.advanceRounds(90)
  file = await exported(await live.controls.dump())
})
afterAll(() => live.stop())

describe("a fork of a live network", () => {
  it("has its accounts, names, stakes, proposals and policies, and continues with its own rounds", async () => {
    await using fork = await startNode({ fork: file, onDemand: true, accounts: 2 })
    const { client, controls } = fork
    const before = await live.client.core.network()
    const { network_id, mode, parameters } = await client.core.network()
    expect([network_id.startsWith("udg-fork-"), mode]).toEqual([true, before.mode])
    expect(parameters).toEqual({ ...before.parameters, faucet_max_sats: null })
    const { delegation: _, ...expected } = await seen(live.client)
    expect(await seen(client)).toMatchObject(expected)
    const start = await client.core.status()
    // The checkpoint that it began with; a slow machine may have made more by now.
    const checkpoint = (await client.checkpoints.list({ urlParams: { closing: "only" } })).checkpoints.at(-1)
    if (checkpoint === undefined) throw new Error("no checkpoint")
    const closed = await live.client.checkpoints.closing({ path: { epoch: checkpoint.epoch } })
    expect([checkpoint.round, checkpoint.total_supply]).toEqual([closed.round, closed.total_supply])
    // Since then only the rewards of a few rounds were added.
    const { state } = (await client.core.healthReport()).components
    const added = (state?.total_supply ?? 0) - closed.total_supply
    expect(added / parameters.round_reward).toBeGreaterThanOrEqual(0)
    expect(added / parameters.round_reward).toBeLessThanOrEqual(start.dag_round - checkpoint.round + 20)
    const after = await controls.advanceRounds(100)
    expect(after.finalized_round).toBeGreaterThan(start.last_finalized_round + 90)
    expect((await client.core.healthReport()).components.state?.status).toBe("healthy")
    expect((await client.checkpoints.latest()).epoch).toBeGreaterThan(2)
  })

  it("lets everybody act without a key, and leaves the original network unchanged", async () => {
    await using fork = await startNode({ fork: file, onDemand: true, accounts: 2 })
    const { client, controls } = fork
    const original = await seen(live.client)
    const before = await client.balance(bob)
    const { fee } = await (await controls.impersonate(bob)).send({ to: "@alice", amount: COIN })
    expect((await client.balance(bob)).balance).toBe(before.balance - COIN - fee)
    await (await controls.impersonate(carol)).send({ to: bob, amount: 1 })
    const { proposal_id } = await (await controls.impersonate("@alice")).createProposal({
      title: "Mine",
      description: "",
      proposal_type: { Text: {} },
    })
    expect(proposal_id).toBe(2)
    await (await controls.impersonate(alice)).unstake()
    await controls.setBalance(somebody, 50_000 * COIN)
    expect(await controls.setBalance(dora, 5)).toBe(5)
    await controls.advanceRounds(150)
    expect(await client.balance("@alice")).toMatchObject({ staked: 0 })
    expect((await client.core.healthReport()).components.state?.status).toBe("healthy")
    expect(await seen(live.client)).toEqual(original)
  })

  it("is a separate network: signatures for one are invalid on the other", async () => {
    await using fork = await startNode({ fork: file, onDemand: true, seed: "live", accounts: 4 })
    const [there, here] = [live.accounts[1], fork.accounts[1]]
    const next = (await fork.client.balance(bob)).next_nonce
    const fields = { to: somebody, amount: 1, fee: 1_000, nonce: next }
    if (there === undefined || here === undefined) throw new Error("no accounts")
    expect(here.address).toBe(there.address)
    for (const [{ client }, payload] of [
      [fork, there.transfer(fields)],
      [live, here.transfer(fields)],
    ] as const)
      await expect(client.transactions.submit({ payload })).rejects.toMatchObject({ code: "InvalidSignature" })
    expect(await fork.client.account(here.secretKey).send({ to: somebody, amount: 1 })).toMatchObject({ nonce: next })
  })

  it("can be reverted, dumped and resumed", async () => {
    await using fork = await startNode({ fork: file, onDemand: true, accounts: 1 })
    const { client, controls } = fork
    const snapshot = await controls.snapshot()
    await controls.setBalance(somebody, 3)
    await controls.revert(snapshot)
    expect((await client.balance(somebody)).balance).toBe(7 * COIN)
    await controls.setBalance(somebody, 4)
    const state = await controls.dump()
    await using again = await startNode({ state, onDemand: true })
    expect((await again.client.balance(somebody)).balance).toBe(4)
    expect(await again.controls.setBalance(somebody, 9 * COIN)).toBe(9 * COIN)
    await again.controls.advanceRounds(50)
  })

  it("is refused in one line for a changed, partial, foreign or invalid file", async () => {
    const bytes = readFileSync(file)
    const refusal = async (content: Uint8Array): Promise<string> => {
      const changed = join(folder, "changed")
      writeFileSync(changed, content)
      const failure: unknown = await startNode({ fork: changed }).then(
        (node) => node.stop(),
        (error: unknown) => error,
      )
      if (!(failure instanceof Error)) return "nothing"
      expect(failure.message).not.toContain("\n")
      return `${failure.name}: ${failure.message}`
    }
    const withByte = (at: number): Uint8Array => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
    // Bytes of the genesis, the checkpoints and the state.
    for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 40))
      expect(await refusal(withByte(at))).toMatch(/^ControlRefused: this cannot be forked: /)
    expect(await refusal(bytes.subarray(0, bytes.length - 1))).toContain("it ends")
    expect(await refusal(bytes.subarray(0, 900))).toContain("it ends")
    expect(await refusal(new Uint8Array(0))).toContain("write one with udg db export")
    expect(await refusal(Buffer.concat([bytes, bytes]))).toMatch(/^ControlRefused: /)
    await expect(startNode({ fork: join(folder, "nowhere") })).rejects.toThrow("cannot be read")
  })
})

type Json = Record<string, unknown>

/** A proxy that changes the live node's responses to these paths. */
const lying = async (path: RegExp, change: (answer: Json) => Json, { url: honest } = live) => {
  const asked: Array<string> = []
  const server = createServer(async ({ url = "" }, response) => {
    asked.push(url)
    const answer = await fetch(`${honest}${url}`)
    const body = (await answer.json()) as Json
    response.writeHead(answer.status, { "content-type": "application/json" })
    response.end(JSON.stringify(path.test(url) ? change(body) : body))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

const withHexDigit = (hex: string, at: number): string =>
  `${hex.slice(0, at)}${(Number.parseInt(hex.charAt(at), 16) ^ 1).toString(16)}${hex.slice(at + 1)}`

describe("a fork of a node's network", () => {
  it.each(["believing its checkpoint", "proven from the genesis"])("has the same state, %s", async (way) => {
    const proof = way === "proven from the genesis" ? { forkGenesis: live.genesis } : {}
    await using fork = await startNode({ fork: live.url, ...proof, onDemand: true, accounts: 1 })
    const { delegation: _, ...expected } = await seen(live.client)
    expect(await seen(fork.client)).toMatchObject(expected)
    const { parameters } = await live.client.core.network()
    expect((await fork.client.core.network()).parameters).toEqual({ ...parameters, faucet_max_sats: null })
    const finalized = async () => (await fork.client.core.status()).last_finalized_round
    const before = await finalized()
    await fork.controls.advanceRounds(50)
    // On a busy machine, the last of them become final a little later.
    expect(await settled(finalized)).toBeGreaterThan(before + 40)
    expect((await fork.client.core.healthReport()).components.state?.status).toBe("healthy")
  })

  const refusalOf = (options: Parameters<typeof startNode>[0]): Promise<string> =>
    startNode({ ...options, accounts: 1 }).then(
      (node) => node.stop().then(() => "nothing"),
      (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : "no error"),
    )

  it("takes a large state piece by piece, and is refused if one piece replaces another", async () => {
    await using large = await startNode({ onDemand: true, accounts: 6_000, coinsEach: 1 })
    await large.controls.advanceRounds(50)
    const last = large.accounts.at(-1)?.address ?? ""
    {
      await using node = await lying(/^\/none/, (answer) => answer, large)
      await using fork = await startNode({ fork: node.url, onDemand: true, accounts: 1 })
      expect((await fork.client.balance(last)).balance).toBe(COIN)
      expect(node.asked.filter((url) => url.startsWith("/state/")).length).toBeGreaterThan(1)
    }
    let first: Json | undefined
    const repeating = await lying(
      /^\/state\//,
      (answer) => {
        first ??= answer
        return first
      },
      large,
    )
    expect(await refusalOf({ fork: repeating.url })).toContain("its state is not that of the checkpoint: records at ")
    await repeating[Symbol.asyncDispose]()
  })

  it("is refused for any change to a piece of the state", async () => {
    for (const at of [0, 2, 66, 80, 200, 400, 900, 1_500]) {
      await using node = await lying(/^\/state\//, (answer) => ({
        ...answer,
        piece: withHexDigit(String(answer["piece"]), at),
      }))
      const refusal = await refusalOf({ fork: node.url })
      expect(refusal, String(at)).toMatch(
        /^ControlRefused: this cannot be forked: its state is not that of the checkpoint: /,
      )
      expect(refusal).not.toContain("\n")
    }
  })

  it("is refused for another checkpoint than the committees since the genesis have signed", async () => {
    const root = "ab".repeat(32)
    const lies: ReadonlyArray<readonly [RegExp, (answer: Json) => Json, RegExp]> = [
      [/^\/checkpoint\/epoch\//, (answer) => ({ ...answer, state_root: root }), /hash: does not match the content/],
      [/^\/checkpoint\/epoch\//, (answer) => ({ ...answer, signatures: [] }), /no quorum/],
      [/^\/checkpoints\?/, () => ({ checkpoints: [], next_round: null }), /no epoch of its network has closed yet/],
      [/^\/network/, (answer) => ({ ...answer, genesis_hash: root }), /and the genesis is /],
    ]
    for (const [path, change, says] of lies) {
      await using node = await lying(path, change)
      const refusal = await refusalOf({ fork: node.url, forkGenesis: live.genesis })
      expect(refusal).toMatch(/^ControlRefused: this cannot be forked: /)
      expect(refusal).toMatch(says)
      expect(node.asked.filter((url) => url.startsWith("/state/"))).toEqual([])
    }
  })

  it("is refused where no node answers, or one of another network than the genesis names", async () => {
    expect(await refusalOf({ fork: "http://127.0.0.1:1" })).toMatch(/^ControlRefused: this cannot be forked: /)
    await using other = await startNode({ onDemand: true, accounts: 1 })
    expect(await refusalOf({ fork: live.url, forkGenesis: other.genesis })).toContain("it is a node of udg-solo-")
  })
})
