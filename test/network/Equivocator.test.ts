/** One of four validators equivocates in every round; all others prove it and slash it. */
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Rest from "../support/Rest.js"
import { equivocator } from "./Equivocator.js"
import { expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"
import * as Wallet from "./Wallet.js"

afterEach(Processes.removeAll)

describe("an equivocating validator", () => {
  it(Rest.of("four programs", "is slashed on every node, and the others go on"), async () => {
    const network = Processes.found({ roundMs: 300, epochRounds: 240 })
    const [liar] = network.keys
    if (liar === undefined) return expect.unreachable()
    const honest: Array<Processes.Started> = []
    for (const n of [1, 2, 3]) honest.push(await Processes.startValidator(network, n, honest))
    const address = Address.fromPublicKey(liar.publicKey)
    const stakeAt = (node: Processes.Started) => Wallet.stakeOf(node, address)
    const isSlashed = async () => (await Promise.all(honest.map(stakeAt))).every((stake) => stake < Sats.MIN_STAKE_SATS)
    const run = Effect.provide(
      Effect.promise(() => Processes.until("it is slashed on every node", isSlashed)),
      equivocator(network, honest),
    )
    await Effect.runPromise(run)
    const stakes = await Promise.all(honest.map(stakeAt))
    expect(new Set(stakes)).toEqual(new Set([Sats.MIN_STAKE_SATS / 2]))
    const round = Math.max(...honest.map(Processes.finalizedRound)) + 10
    await Processes.everybodyAt(honest, round)
    await expectOneHistory(honest, round)
    for (const node of honest) expect(node.log()).not.toContain("no honest node")
  })
})
