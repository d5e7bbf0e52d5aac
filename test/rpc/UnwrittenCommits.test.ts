/** What a node reports while its disk lags its memory: a kill at this moment takes back what is not written. */
import { Effect, Layer, Option } from "effect"
import { afterEach, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Engine from "../../src/node/engine/Engine.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { type Entry, Storage } from "../../src/storage/Storage.js"
import * as RealNode from "./RealNode.js"

/** While shut, it keeps commits with transactions out of the file. */
const disk = Effect.unsafeMakeLatch(true)
/** The leader round of the last commit in the file. */
let written = 0

const pays = (entry: Entry): boolean =>
  entry._tag === "Commit" && entry.batch.vertices.some(({ executed }) => executed.length > 0)

const engine: typeof Engine.layer = Engine.layer.pipe(
  Layer.provide(
    Layer.effect(
      Storage,
      Effect.map(Storage, (storage) => {
        const after = <E>(entries: ReadonlyArray<Entry>, write: Effect.Effect<void, E>) =>
          Effect.tap(Effect.zipRight(entries.some(pays) ? disk.await : Effect.void, write), () => {
            for (const entry of entries) if (entry._tag === "Commit") written = entry.batch.commit.leaderRound
          })
        return {
          ...storage,
          append: (entries) => after(entries, storage.append(entries)),
          keepOwn: (vertex, companions, before = []) => after(before, storage.keepOwn(vertex, companions, before)),
        }
      }),
    ),
  ),
)

let node: RealNode.RealNode
const start = async (roundMs: number) => {
  node = await RealNode.start({ roundMs: Option.some(roundMs) }, engine)
  return Client.connect(node.url, { retries: 0 })
}
afterEach(async () => {
  Effect.runSync(disk.open)
  await node.stop()
})

const answer = async (path: string): Promise<unknown> => (await fetch(`${node.url}${path}`)).json()

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

it("reports a commit only once it is written, and then everywhere at once", async () => {
  const client = await start(20)
  const to = Wallet.account(Wallet.network(await client.core.network()), Wallet.generate())
  const path = { address: to.address }
  Effect.runSync(disk.close)
  const { tx_hash: hash } = await client.core.faucet({ payload: { ...path, amount: Wallet.sats("1") } })
  await until(() => node.view.read.account(path.address).balance > 0)
  const { total_supply: supply } = await client.core.status()
  const told: Array<string> = []
  const validator = Address.fromPublicKey(Option.getOrThrow(node.validatorKey).publicKey)
  const asked = Promise.all(
    [
      ...[`/balance/${to.address}`, "/network", "/governance/config", "/proposals", "/proposal/7"],
      ...[`/stake/${validator}`, "/validators", `/validator/${validator}/delegators`, `/delegation/${validator}`],
      ...[`/names?addresses=${to.address}`, "/search?prefix=abc", "/balance/@nobody", `/account/${to.address}/policy`],
    ].map((path) => answer(path).finally(() => told.push(path))),
  )
  for (let i = 0; i < 4; i++) {
    expect(await answer(`/tx/${hash}`)).toMatchObject({ status: "pending" })
    expect(await answer("/status")).toMatchObject({ last_finalized_round: written, total_supply: supply })
    expect(await answer("/metrics/json")).toMatchObject({ total_supply: supply })
    expect(await answer("/health")).toMatchObject({ status: "ok" })
    expect(await answer("/health/detailed")).toMatchObject({ components: {} })
  }
  expect(told).toEqual([])
  expect(node.view.read.totals.total).not.toBe(supply)
  Effect.runSync(disk.open)
  expect((await asked)[0]).toMatchObject({ balance: 100_000_000 })
  expect(await client.transactions.lookup({ path: { hash } })).toMatchObject({ status: "finalized" })
  expect((await client.transactions.statement({ path })).entries).toMatchObject([{ hash }])
})

it("sends no event about a final round that is not written", async () => {
  await start(5)
  const told: Array<number> = []
  for await (const { event } of Client.connect(node.url).events()) {
    if (event.type !== "round") continue
    expect(event.finalized_round).toBeLessThanOrEqual(written)
    if (told.push(event.finalized_round) === 100) break
  }
  expect(Math.max(...told)).toBeGreaterThan(0)
})
