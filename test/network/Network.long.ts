/** The long stories of networks of processes: `npm run test:network`. */
import { cpSync, rmSync } from "node:fs"
import { afterEach, describe, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { expectOneHistory, expectSound } from "./History.js"
import * as Processes from "./Processes.js"
import * as Wallet from "./Wallet.js"

afterEach(Processes.removeAll)

describe("four validators", () => {
  it("finalize nothing while two are gone, do not fork, and continue when they return", async () => {
    const network = Processes.found({ roundMs: 300, epochRounds: 240 })
    const nodes = await Processes.startAll(network)
    await Processes.everybodyAt(nodes, 5)
    const [first, second, ...others] = nodes
    if (first === undefined || second === undefined) return expect.unreachable()
    await Promise.all([first.kill(), second.kill()])
    const stopped = await Processes.standstill(others, 5_000)
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    expect(others.map(Processes.finalizedRound)).toEqual(stopped)
    const back = [
      await Processes.startValidator(network, 0, others),
      await Processes.startValidator(network, 1, others),
    ]
    const all = [...back, ...others]
    const resumed = Math.max(...stopped) + 15
    await Processes.everybodyAt(all, resumed)
    await expectSound(network, all, resumed)
  })

  it("hand over epochs, and a fifth node joins from the state of a close and reaches the same state", async () => {
    const accounts = Array.from({ length: 20_000 }, (_, n) => ({
      address: Address.fromPublicKey(Wallet.numbered(n)),
      amount: Sats.make(1_000 + n),
    }))
    const network = Processes.found({ roundMs: 250, epochRounds: 40, allocations: accounts })
    const nodes = await Processes.startAll(network)
    await Processes.everybodyAt(nodes, 130)
    const [first] = nodes
    if (first === undefined) return expect.unreachable()
    // No node has the vertices of the first epochs any more, as after ten thousand rounds.
    for (const node of nodes) Processes.prune(node, 3)
    const follower = await Processes.start(network, "fifth", ["--no-validate", "--peer", first.p2p])
    await Processes.until("the fifth follows", () => Processes.finalizedRound(follower) > 140)
    // Apart from the genesis, it has not executed the first epochs but downloaded their outcome.
    const [, firstExecuted] = Processes.commits(follower)
    expect(firstExecuted?.round).toBeGreaterThan(40)
    const all = [...nodes, follower]
    const round = Math.max(...all.map(Processes.finalizedRound)) + 12
    await Processes.everybodyAt(all, round)
    await expectOneHistory(all, round - 12)
    expect(Processes.accountCount(follower)).toBe(Processes.accountCount(first))
  })

  it("share transactions submitted to any node, and propose each once", async () => {
    const network = Processes.found({ roundMs: 400, epochRounds: 240 })
    const nodes = await Processes.startAll(network)
    const [first] = nodes
    if (first === undefined) return expect.unreachable()
    const follower = await Processes.start(network, "door", [
      "--no-validate",
      "--rate-limits",
      "off",
      "--peer",
      first.p2p,
    ])
    const all = [...nodes, follower]
    await Processes.everybodyAt(all, 3)
    const sent = await Wallet.pay(follower, network, 40)
    await Processes.until("all are final everywhere", () =>
      all.every((node) => Processes.notRecorded(node, sent).length === 0),
    )
    const proposed = Processes.timesProposed(first, network.genesis.networkId)
    for (const id of sent) expect(proposed.get(id)).toBeGreaterThanOrEqual(1)
    const twice = sent.filter((id) => (proposed.get(id) ?? 0) > 1)
    expect(twice).toEqual([])
  })
})

describe("a validator", () => {
  it("restored from an old backup signs nothing twice, and signs again after a silence", async () => {
    const network = Processes.found({ roundMs: 150, epochRounds: 240 })
    const [first, ...others] = await Processes.startAll(network)
    const [key] = network.keys
    const [other] = others
    if (first === undefined || other === undefined || key === undefined) return expect.unreachable()
    await Processes.everybodyAt([first, ...others], 10)
    await first.stop()
    const backup = `${first.directory}-backup`
    cpSync(first.directory, backup, { recursive: true })
    const between = await Processes.startValidator(network, 0, others)
    const before = Processes.lastRoundOf(other, key)
    await Processes.until("it has signed since the backup", () => Processes.lastRoundOf(other, key) > before + 10)
    await between.kill()
    const signed = Processes.lastRoundOf(other, key)
    rmSync(first.directory, { recursive: true })
    cpSync(backup, first.directory, { recursive: true })
    const restored = await Processes.startValidator(network, 0, others)
    await Processes.until("it signs again", () => Processes.lastRoundOf(other, key) > signed + 3, 300_000)
    const all = [restored, ...others]
    const round = Math.max(...all.map(Processes.finalizedRound)) + 10
    await Processes.everybodyAt(all, round)
    await expectSound(network, all, round)
  })
})

describe("a newcomer", () => {
  it("that stakes and runs a node takes a seat after an epoch of heartbeats; one that dies does not stop the network", async () => {
    const network = Processes.found({ roundMs: 250, epochRounds: 40 })
    const nodes = await Processes.startAll(network)
    const [first] = nodes
    if (first === undefined) return expect.unreachable()
    const candidate = await Wallet.candidate(network, "fifth", nodes)
    await Wallet.stake(first, network)
    const address = Address.fromPublicKey(network.rich.publicKey)
    await Processes.until("it has a seat", () => Wallet.isInCommittee(first, address), 300_000)
    await Processes.until("it makes vertices", () => Processes.slotsOf(first, network.rich).length > 3)
    await candidate.kill()
    await Processes.until("it has lost its seat", async () => !(await Wallet.isInCommittee(first, address)), 300_000)
    const round = Processes.finalizedRound(first)
    await Processes.everybodyAt(nodes, round + 20)
    await expectOneHistory(nodes, round)
  })
})
