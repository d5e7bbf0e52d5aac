/** A node's side of its connections, with real lines between two of them. */
import { afterAll, expect, it } from "vitest"
import { Switchboard } from "../../src/network/peers/Switchboard.js"
import { Standings } from "../../src/network/Standing.js"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import { TlsWire } from "../../src/network/tls/TlsWire.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import { genesisOf } from "../replica/Cluster.js"
import { stranger } from "./Hostile.js"

const genesis = genesisOf({ validators: { ann: 10_000 } })
const clock = { aheadMs: 0 }

const ends: Array<() => Promise<void>> = []
afterAll(async () => {
  for (const end of ends) await end()
})

it("keeps a connection that has greeted for longer than a greeting may take", async () => {
  const nothing = () => {}
  const board = await Switchboard.start({
    wire: new TlsWire({ key: SecretKey.generate(), listen: { host: "127.0.0.1", port: 0 }, clock: nodeClock }),
    hello: { networkId: genesis.networkId, genesisHash: Genesis.hash(genesis), agent: "test" },
    signer: null,
    standings: new Standings(),
    named: [],
    remembered: [],
    clock: { ...nodeClock, now: () => Date.now() + clock.aheadMs },
    listener: { heard: nothing, changed: nothing, logged: nothing },
  })
  ends.push(() => board.stop())
  const one = await stranger(genesis, board.addresses[0] ?? "")
  ends.push(one.stop)
  const line = await one.connect()
  await expect.poll(() => board.sessions.length).toBe(1)
  clock.aheadMs = 11_000
  board.tend()
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(line.isOpen()).toBe(true)
  expect(board.sessions).toHaveLength(1)
})
