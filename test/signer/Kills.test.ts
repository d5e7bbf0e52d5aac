/**
 * The built signer under kills and pauses, with two nodes that ask for conflicting vertices all the time. UDG_SIGNER_SCHEDULES
 * says how many schedules the long case runs.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Either } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { sha256Hex } from "#crypto"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import { Connection } from "../../src/signer/Connection.js"
import { Chance } from "../simulation/Chance.js"
import * as world from "../storage/world.js"
import * as Rest from "../support/Rest.js"
import * as SignerProcess from "./SignerProcess.js"
import * as Statements from "./Statements.js"

const genesis = world.genesis()
const nodes = [Statements.keyOf(21), Statements.keyOf(22)] as const

const left = new Set<() => void>()
afterEach(() => {
  SignerProcess.killAll()
  for (const remove of left) remove()
  left.clear()
})

const folder = (): SignerProcess.Place => {
  const path = mkdtempSync(join(tmpdir(), "udg-signer-"))
  left.add(() => rmSync(path, { recursive: true, force: true }))
  const [genesisFile, keyFile] = [join(path, "genesis.json"), join(path, "validator.key")]
  writeFileSync(genesisFile, JSON.stringify(Genesis.toJson(genesis)))
  writeFileSync(keyFile, `${Statements.validator.toSecretHex()}\n`, { mode: 0o600 })
  return { directory: join(path, "signer"), genesisFile, keyFile }
}

const start = (place: SignerProcess.Place, port = 0) => SignerProcess.start(place, nodes.map(NodeProof.idOf), port)

const connected = ({ id, port }: SignerProcess.SignerProcess, nodeKey: SecretKey): Connection => {
  const signer = { host: "127.0.0.1", port, key: id }
  const connection = new Connection({
    ...{ nodeKey, genesisHash: Genesis.hash(genesis), signer, clock: nodeClock },
    changed: () => {},
  })
  left.add(() => connection.stop())
  return connection
}

const waited = (ms: number): Promise<void> => new Promise((settle) => setTimeout(settle, ms))

/** Every signature that any node was given: the digest of what it is for, by slot. */
class Given {
  readonly slots = new Map<number, Set<string>>()
  refusals = 0

  async ask(connection: Connection, round: number, variant: number): Promise<void> {
    const message = Statements.vertex({ round, variant })
    const answer = await connection.sign(message)
    if (Either.isLeft(answer)) {
      this.refusals++
      return
    }
    const { publicKey } = Statements.validator
    expect(Verification.isStrictlyValid({ message, publicKey, signature: answer.right })).toBe(true)
    const slot = this.slots.get(round) ?? new Set()
    this.slots.set(round, slot.add(sha256Hex(message)))
  }
}

/** Two nodes walk through the rounds, each with vertices of its own; the signer is killed or stands still meanwhile. */
const schedule = async (seed: number): Promise<Given> => {
  const chance = new Chance(seed)
  const path = folder()
  expect(await SignerProcess.signFrom(path, "1:1")).toBe(0)
  let signer = await start(path)
  const connections = nodes.map((key) => connected(signer, key))
  const given = new Given()
  const faults = async () => {
    for (let fault = 0; fault < 3; fault++) {
      await waited(chance.below(60))
      if (chance.percent(50)) {
        await signer.kill()
        signer = await start(path, signer.port)
      } else {
        signer.signal("SIGSTOP")
        await waited(chance.below(200))
        signer.signal("SIGCONT")
      }
    }
  }
  const walk = async (connection: Connection, variant: number) => {
    let round = 1
    for (let step = 0; step < 60; step++) {
      // Sometimes back, as a node whose disk was set back does.
      round = Math.max(1, chance.percent(20) ? round - chance.below(4) : round + 1)
      const asked = given.ask(connection, round, chance.percent(30) ? variant + 2 : variant)
      if (chance.percent(70)) await asked
      else void asked
    }
    while (connection.waiting > 0) await waited(10)
  }
  await Promise.all([faults(), ...connections.map(walk)])
  for (const connection of connections) connection.stop()
  await signer.kill()
  return given
}

const judge = async (seeds: ReadonlyArray<number>): Promise<void> => {
  for (const seed of seeds) {
    const { slots, refusals } = await schedule(seed)
    const twice = [...slots].filter(([, digests]) => digests.size > 1)
    expect({ seed, twice }).toEqual({ seed, twice: [] })
    // It did sign, and it did have to choose.
    expect(slots.size).toBeGreaterThan(10)
    expect(refusals).toBeGreaterThan(10)
  }
}

const seedsFrom = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n)

const LIMIT_MS = 3_600_000

describe("the signer's process", () => {
  it("gives no slot two signatures while it is killed and stands still", () => judge(seedsFrom(1, 3)), LIMIT_MS)

  it(
    Rest.of("more schedules", "gives no slot two signatures in any of these schedules"),
    () => judge(seedsFrom(100, Number(process.env["UDG_SIGNER_SCHEDULES"] ?? "40"))),
    LIMIT_MS,
  )

  it(
    "refuses everything after its directory was lost, until the operator says from where",
    async () => {
      const path = folder()
      expect(await SignerProcess.signFrom(path, "1:1")).toBe(0)
      const before = await start(path)
      const first = connected(before, nodes[0])
      const given = new Given()
      await given.ask(first, 5, 1)
      first.stop()
      await before.kill()
      rmSync(path.directory, { recursive: true })

      const empty = await start(path)
      const second = connected(empty, nodes[0])
      for (const round of [5, 6, 1_000]) await given.ask(second, round, 2)
      expect([given.slots.size, given.refusals]).toEqual([1, 3])
      second.stop()
      await empty.kill()

      expect(await SignerProcess.signFrom(path, "2:1")).toBe(0)
      expect(await SignerProcess.signFrom(path, "1:1")).toBe(1)
      const after = await start(path)
      const third = connected(after, nodes[0])
      await given.ask(third, 6, 2)
      expect(given.refusals).toBe(4)
      const message = Statements.vertex({ epoch: 2, round: 1 })
      expect(Either.isRight(await third.sign(message))).toBe(true)
      third.stop()
      await after.kill()
    },
    LIMIT_MS,
  )
})
