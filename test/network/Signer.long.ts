/** Validators whose keys are held by a signer, with real processes: `npm run test:network`. */
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as SignerProcess from "../signer/SignerProcess.js"
import { expectNoSlotTwice, expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"
import { nodeKeyOf, placeOf, startWith } from "./Signers.js"

afterEach(async () => {
  SignerProcess.killAll()
  await Processes.removeAll()
})

const signsOn = (network: Processes.Founded, by: Processes.Started, n: number, rounds: number): Promise<void> => {
  const key = network.keys[n]
  if (key === undefined) throw new Error(`no validator ${n}`)
  const before = Processes.lastRoundOf(by, key)
  return Processes.until(`validator ${n} signs`, () => Processes.lastRoundOf(by, key) >= before + rounds)
}

/** The status that the node gives its signer; undefined while there is no problem. */
const signerOf = async ({ http }: Processes.Started): Promise<string | undefined> => {
  const answer: unknown = await (await fetch(`${http}/health/detailed`)).json()
  const [, status] = /"component":"signer","status":"(\w+)"/.exec(JSON.stringify(answer)) ?? []
  return status
}

const quietOf = async ({ http }: Processes.Started): Promise<number> => {
  const [, seconds] = /^udg_signer_quiet_seconds ([\d.]+)$/m.exec(await (await fetch(`${http}/metrics`)).text()) ?? []
  return Number(seconds)
}

/** Four validators that sign, the first through a signer, which serves a second node too. */
const started = async (network: Processes.Founded) => {
  const place = placeOf(network, 0)
  expect(await SignerProcess.signFrom(place, "1:1")).toBe(0)
  const ids = ["0", "copy"].map((name) => nodeKeyOf(network, name))
  const signer = await SignerProcess.start(place, ids)
  const first = await startWith(network, signer, "0", [])
  const second = await Processes.startValidator(network, 1, [first])
  const third = await Processes.startValidator(network, 2, [first, second])
  const fourth = await Processes.startValidator(network, 3, [first, second, third])
  const others = [second, third, fourth]
  await Processes.everybodySigns(network, second)
  return { place, ids, signer, first, second, others }
}

it("validators with signers make rounds, follow while their signer is away, and fail over to another node", async () => {
  const network = Processes.found({ roundMs: 200, epochRounds: 120 })
  const { place, ids, signer, first, second, others } = await started(network)
  await signsOn(network, second, 0, 10)

  await signer.kill()
  await Processes.until("the node says that its signer is away", () => /no signer/.test(first.log()))
  await Processes.everybodyAt([first, ...others], Processes.finalizedRound(second) + 10)
  const again = await SignerProcess.start(place, ids, signer.port)
  await signsOn(network, second, 0, 10)

  await first.kill()
  const copy = await startWith(network, again, "copy", others)
  await signsOn(network, second, 0, 10)
  const round = Processes.finalizedRound(second) + 10
  await Processes.everybodyAt([copy, ...others], round)
  for (const node of [copy, ...others]) expectNoSlotTwice(network, node)
  await expectOneHistory([copy, ...others], round)
})

it("a node reports that its signer does not answer: a paused one, a missing one, and another one", async () => {
  const network = Processes.found({ roundMs: 200, epochRounds: 600 })
  const { place, ids, signer, first, second } = await started(network)
  const statusIs = (...wanted: ReadonlyArray<string | undefined>) =>
    Processes.until(`the signer is ${wanted.join(" or ")}`, async () => wanted.includes(await signerOf(first)))
  const passesThrough = async (isUnhealthyToo: boolean, heal: () => Promise<void>) => {
    await statusIs("warning")
    expect(await quietOf(first)).toBeLessThan(12)
    if (isUnhealthyToo) {
      await statusIs("unhealthy")
      expect(await quietOf(first)).toBeGreaterThanOrEqual(12)
    }
    await heal()
    await statusIs(undefined)
    await signsOn(network, second, 0, 10)
  }
  await statusIs(undefined)

  // The connection stays open while the process exists; only the missing response reveals the pause.
  signer.signal("SIGSTOP")
  await statusIs("warning")
  expect(first.log()).not.toContain("no signer")
  await passesThrough(true, async () => signer.signal("SIGCONT"))

  await signer.kill()
  let running = signer
  await passesThrough(true, async () => {
    running = await SignerProcess.start(place, ids, signer.port)
  })

  await running.kill()
  const elsewhere = { ...place, directory: `${place.directory}-other` }
  expect(await SignerProcess.signFrom(elsewhere, "1:1")).toBe(0)
  const impostor = await SignerProcess.start(elsewhere, ids, signer.port)
  await Processes.until("the node names the other key", () =>
    first.log().includes(`a signer with another key answers, ${impostor.id}`),
  )
  await passesThrough(false, async () => {
    await impostor.kill()
    await SignerProcess.start(place, ids, signer.port)
  })
  expectNoSlotTwice(network, second)
})

it("two nodes with one signer never fill a slot twice, even without any memory", async () => {
  const network = Processes.found({ roundMs: 200, epochRounds: 240 })
  const { signer, first, second, others } = await started(network)
  // Its disk is empty, and another node has the same key.
  await first.kill()
  for (const file of ["signed.db", "signed.db-wal", "signed.db-shm", "udg.db", "udg.db-wal", "udg.db-shm"]) {
    rmSync(join(first.directory, file), { force: true })
  }
  const [back, copy] = await Promise.all([
    startWith(network, signer, "0", others),
    startWith(network, signer, "copy", others),
  ])
  const round = Processes.finalizedRound(second) + 150
  await Processes.everybodyAt([back, copy, ...others], round)
  for (const node of [back, copy, ...others]) expectNoSlotTwice(network, node)
  await expectOneHistory([back, copy, ...others], round)
})

const portsOf = ({ p2p, http }: Processes.Started): ReadonlyArray<string> => {
  const portOf = (place: string | null) => place?.split(":").at(-1) ?? ""
  return ["--port", portOf(p2p), "--rpc-port", portOf(http)]
}

/** The status of /ready, and the reason if there is one. A node that restarts does not answer. */
const readiness = async ({ http }: Processes.Started): Promise<readonly [number, string?]> => {
  const answer = await fetch(`${http}/ready`).catch(() => Response.error())
  const [, reason] = /"reason":"(\w+)"/.exec(await answer.text()) ?? []
  return reason === undefined ? [answer.status] : [answer.status, reason]
}

it("a node starts, follows and serves while its signer is away, and goes on with the keys that the signer has then", async () => {
  const network = Processes.found({ roundMs: 200, epochRounds: 600 })
  const { place, ids, signer, first, second, others } = await started(network)
  await Processes.until("the node is ready", async () => (await readiness(first))[0] === 200)

  // It restarts within its process.
  const sameAgain = () => startWith(network, signer, "0", others, portsOf(first))
  await signer.kill()
  await first.stop()
  const alone = await sameAgain()
  expect(alone.log()).toMatch(/no signer: this node follows without signing until it answers/)
  expect(await readiness(alone)).toEqual([503, "signer"])
  await Processes.until("the signer is reported", async () => (await signerOf(alone)) === "warning")
  await Processes.everybodyAt([alone], Processes.finalizedRound(second) + 10)
  expect(await readiness(alone)).toEqual([503, "signer"])

  const back = await SignerProcess.start(place, ids, signer.port)
  await signsOn(network, second, 0, 10)
  await Processes.until("the node is ready", async () => (await readiness(alone))[0] === 200)

  await back.kill()
  await alone.stop()
  const again = await sameAgain()
  const file = join(network.folder, "other.key")
  const other = SecretKey.generate()
  writeFileSync(file, `${other.toSecretHex()}\n`, { mode: 0o600 })
  await SignerProcess.start({ ...place, keyFile: file }, ids, signer.port)
  await Processes.until("the node has the other key", () => again.log().includes(`keys=${other.publicKey}`))
  const restart = `this node restarts with its key  key=${Address.fromPublicKey(other.publicKey)}`
  await Processes.until("the node restarts with the other key", () => again.log().includes(restart))
  expect(again.log()).toContain("the signer has other keys")
  await Processes.until("the node is ready", async () => (await readiness(again))[0] === 200)
  for (const node of [again, ...others]) expectNoSlotTwice(network, node)
})

it("a node that has never met its signer starts once that answers", async () => {
  const network = Processes.found()
  const place = placeOf(network, 0)
  expect(await SignerProcess.signFrom(place, "1:1")).toBe(0)
  const ids = [nodeKeyOf(network, "0")]
  const signer = await SignerProcess.start(place, ids)
  await signer.kill()
  const starting = startWith(network, signer, "0", [])
  const isRunning = await Promise.race([starting.then(() => true), sleep(5_000, false)])
  expect(isRunning).toBe(false)
  await SignerProcess.start(place, ids, signer.port)
  expect((await starting).log()).toContain("no signer: this node starts once it answers")
})
