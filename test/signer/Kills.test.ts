/**
 * Kills and pauses the built signer, cuts its lines, sets its disk back, restores its directory from a copy and takes it
 * away, while two nodes keep asking for conflicting vertices. UDG_SIGNER_SCHEDULES sets the number of schedules of the long
 * case. It prints how long each kind of fault kept the signer away.
 */
import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Either } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { sha256Hex } from "#crypto"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import { Connection } from "../../src/signer/Connection.js"
import * as Signer from "../../src/signer/Signer.js"
import { Chance } from "../simulation/Chance.js"
import * as world from "../storage/world.js"
import * as Rest from "../support/Rest.js"
import * as SignerProcess from "./SignerProcess.js"
import * as Statements from "./Statements.js"

const genesis = world.genesis()
const nodes = [Statements.keyOf(21), Statements.keyOf(22)] as const
const { publicKey } = Statements.validator

/** What a schedule leaves behind and has to remove. */
class Left {
  readonly #removals = new Set<() => void>()

  add(remove: () => void): void {
    this.#removals.add(remove)
  }

  remove(): void {
    for (const remove of this.#removals) remove()
    this.#removals.clear()
  }
}

const ofTest = new Left()
afterEach(() => {
  SignerProcess.killAll()
  ofTest.remove()
})

const folder = (left: Left): SignerProcess.Place => {
  const path = mkdtempSync(join(tmpdir(), "udg-signer-"))
  left.add(() => rmSync(path, { recursive: true, force: true }))
  const [genesisFile, keyFile] = [join(path, "genesis.json"), join(path, "validator.key")]
  writeFileSync(genesisFile, JSON.stringify(Genesis.toJson(genesis)))
  writeFileSync(keyFile, `${Statements.validator.toSecretHex()}\n`, { mode: 0o600 })
  return { directory: join(path, "signer"), genesisFile, keyFile }
}

const start = (place: SignerProcess.Place, port = 0) => SignerProcess.start(place, nodes.map(NodeProof.idOf), port)

const placeAt = (round: number) => ({ epoch: Natural.epoch(1), round: Natural.round(round) })

/** What `udg signer sign-from` does, without another process. */
const signFrom = ({ directory }: SignerProcess.Place, round: number): Promise<boolean> =>
  Signer.open(directory, genesis).pipe(
    Effect.flatMap(({ keys }) => keys.vouch(publicKey, placeAt(round - 1))),
    Effect.scoped,
    Effect.provide(world.platform),
    Effect.runPromise,
  )

const connected = (
  left: Left,
  { id, port }: Pick<SignerProcess.SignerProcess, "id" | "port">,
  nodeKey: SecretKey,
): Connection => {
  const signer = { host: "127.0.0.1", port, key: id }
  const connection = new Connection({
    ...{ nodeKey, genesisHash: Genesis.hash(genesis), signer, clock: nodeClock },
    changed: () => {},
  })
  left.add(() => connection.stop())
  return connection
}

const waited = (ms: number): Promise<void> => new Promise((settle) => setTimeout(settle, ms))

/** All signatures given to any node: the digests of the signed bytes, by slot. */
class Given {
  readonly slots = new Map<number, Set<string>>()
  refusals = 0
  highestAsked = 0

  /** Returns whether it was signed. */
  async ask(connection: Connection, round: number, variant: number): Promise<boolean> {
    this.highestAsked = Math.max(this.highestAsked, round)
    const message = Statements.vertex({ round, variant })
    const answer = await connection.sign(publicKey, message)
    if (Either.isLeft(answer)) {
      this.refusals++
      return false
    }
    expect(Verification.isStrictlyValid({ message, publicKey, signature: answer.right })).toBe(true)
    const slot = this.slots.get(round) ?? new Set()
    this.slots.set(round, slot.add(sha256Hex(message)))
    return true
  }
}

/** A port that forwards to the signer's, and can cut all lines through it. */
const relayTo = async (left: Left, port: number) => {
  const ends = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(one)
      one
        .on("error", () => {})
        .on("close", () => {
          ends.delete(one)
          other.destroy()
        })
      one.pipe(other)
    }
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const cut = (): void => {
    for (const end of ends) end.destroy()
  }
  left.add(() => {
    server.close()
    cut()
  })
  return { port: (server.address() as AddressInfo).port, cut }
}

const ORDINARY = ["killed and started again", "stopped for 0 to 200 ms", "lines cut"] as const
const FAULTS = [
  ...ORDINARY,
  "stopped for 6 s",
  "set back by a snapshot of its disk",
  "restored from a copy, until the operator's word",
  "directory lost, until the operator's word",
] as const
type Fault = (typeof FAULTS)[number]

/** The time from each fault until the next signature. */
const awayMs = new Map<Fault, Array<number>>(FAULTS.map((fault) => [fault, []]))

const drawn = (chance: Chance): Fault => {
  if (chance.percent(1)) return "stopped for 6 s"
  if (chance.percent(15)) return "set back by a snapshot of its disk"
  if (chance.percent(15)) return "restored from a copy, until the operator's word"
  if (chance.percent(10)) return "directory lost, until the operator's word"
  return chance.pick(ORDINARY)
}

/** Its two files as a power cut at this moment would leave them. */
const copyOf = async (signer: SignerProcess.SignerProcess, from: string, to: string): Promise<void> => {
  signer.signal("SIGSTOP")
  await waited(20)
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
  rmSync(join(to, "signer.db-shm"), { force: true })
  signer.signal("SIGCONT")
}

/** Puts the content back without making new files, as a snapshot of the disk does. */
const setBack = (directory: string, copy: string): void => {
  for (const name of ["signer.db", "signer.db-wal"]) {
    if (existsSync(join(copy, name))) copyFileSync(join(copy, name), join(directory, name))
    else rmSync(join(directory, name), { force: true })
  }
  rmSync(join(directory, "signer.db-shm"), { force: true })
}

interface Node {
  readonly connection: Connection
  readonly stopped: Promise<void>
  readonly stop: () => void
}

/** Two nodes go through the rounds with different vertices while faults happen to the signer. */
class Schedule {
  readonly given = new Given()
  readonly #chance: Chance
  readonly #left = new Left()
  readonly #place: SignerProcess.Place
  readonly #copy: string
  #signer: SignerProcess.SignerProcess
  #relay: Awaited<ReturnType<typeof relayTo>>
  #nodes: ReadonlyArray<Node> = []
  /** Where each node is. */
  #rounds = nodes.map(() => 1)
  #isOver = false

  private constructor(
    chance: Chance,
    place: SignerProcess.Place,
    signer: SignerProcess.SignerProcess,
    relay: Awaited<ReturnType<typeof relayTo>>,
  ) {
    this.#chance = chance
    this.#place = place
    this.#copy = `${place.directory}-copy`
    this.#signer = signer
    this.#relay = relay
  }

  static async run(seed: number): Promise<Given> {
    const left = new Left()
    try {
      const place = folder(left)
      expect(await signFrom(place, 1)).toBe(true)
      const signer = await start(place)
      const schedule = new Schedule(new Chance(seed), place, signer, await relayTo(left, signer.port))
      left.add(() => schedule.#left.remove())
      await schedule.#run()
      return schedule.given
    } finally {
      left.remove()
    }
  }

  async #run(): Promise<void> {
    await this.#copied()
    this.#startNodes()
    await Promise.all([this.#faults(), ...nodes.map((_, node) => this.#walk(node))])
    this.#left.remove()
    await this.#signer.kill()
  }

  /** Nodes without any memory of what they have asked. */
  #startNodes(): void {
    for (const { stop } of this.#nodes) stop()
    const signer = { id: this.#signer.id, port: this.#relay.port }
    this.#nodes = nodes.map((key) => {
      const connection = connected(this.#left, signer, key)
      let settle = (): void => {}
      const stopped = new Promise<void>((resolve) => {
        settle = resolve
      })
      const stop = (): void => {
        connection.stop()
        settle()
      }
      return { connection, stopped, stop }
    })
  }

  #goBack(): void {
    this.#rounds = this.#rounds.map((round) => 1 + this.#chance.below(round))
  }

  #copied(): Promise<void> {
    return copyOf(this.#signer, this.#place.directory, this.#copy)
  }

  async #restart(): Promise<void> {
    await this.#signer.kill()
    this.#signer = await start(this.#place, this.#signer.port)
  }

  /** The signer gives nothing before the operator's word, which names the first round that nobody has asked for. */
  async #vouched(): Promise<void> {
    await this.#answered()
    const before = this.given.slots.size
    await waited(this.#chance.below(100))
    expect(this.given.slots.size).toBe(before)
    await this.#signer.kill()
    expect(await signFrom(this.#place, this.given.highestAsked + 1)).toBe(true)
    await this.#restart()
    await this.#copied()
  }

  async #happens(fault: Fault): Promise<void> {
    const { directory } = this.#place
    switch (fault) {
      case "killed and started again":
        return this.#restart()
      case "lines cut":
        return this.#relay.cut()
      case "set back by a snapshot of its disk":
        await this.#signer.kill()
        setBack(directory, this.#copy)
        this.#goBack()
        return this.#restart()
      case "restored from a copy, until the operator's word":
        await this.#signer.kill()
        rmSync(directory, { recursive: true })
        cpSync(this.#copy, directory, { recursive: true, preserveTimestamps: true })
        await this.#restart()
        this.#goBack()
        // In half of the cases the nodes forget, too.
        if (this.#chance.percent(50)) this.#startNodes()
        return this.#vouched()
      case "directory lost, until the operator's word":
        await this.#signer.kill()
        rmSync(directory, { recursive: true })
        await this.#restart()
        this.#goBack()
        this.#startNodes()
        return this.#vouched()
      default:
        this.#signer.signal("SIGSTOP")
        await waited(fault === "stopped for 6 s" ? 6_000 : this.#chance.below(200))
        this.#signer.signal("SIGCONT")
    }
  }

  /** Each node has an answer from the signer that runs now. */
  async #answered(): Promise<void> {
    const answers = this.#nodes.map(({ connection }) => connection.sign(publicKey, Statements.heartbeat()))
    expect((await Promise.all(answers)).every(Either.isRight)).toBe(true)
  }

  async #faults(): Promise<void> {
    for (let count = 0; count < 3; count++) {
      await this.#answered()
      await waited(this.#chance.below(60))
      if (this.#chance.percent(30)) await this.#copied()
      await waited(this.#chance.below(60))
      const fault = drawn(this.#chance)
      const since = performance.now()
      await this.#happens(fault)
      await this.#answered()
      awayMs.get(fault)?.push(performance.now() - since)
    }
    this.#isOver = true
  }

  async #walk(node: number): Promise<void> {
    const chance = this.#chance
    for (let steps = 0; steps < 40; steps += this.#isOver ? 1 : 0) {
      // Goes back at times, like a node with a restored disk.
      const before = this.#rounds[node] ?? 1
      const round = Math.max(1, chance.percent(20) ? before - chance.below(4) : before + 1)
      this.#rounds[node] = round
      const variant = chance.percent(30) ? node + 3 : node + 1
      const asked = this.#ask(node, round, variant)
      if (chance.percent(70)) await asked
      else void asked
    }
    while (this.#nodes.some(({ connection }) => connection.waiting > 0)) await waited(10)
  }

  /** Ends once the node has an answer, or is started again. What is signed reaches both nodes. */
  async #ask(node: number, round: number, variant: number): Promise<void> {
    const asking = this.#nodes[node]
    if (asking === undefined) return
    const answered = this.given.ask(asking.connection, round, variant).then((isSigned) => {
      if (isSigned) for (const { connection } of this.#nodes) connection.tell(publicKey, placeAt(round))
      return isSigned ? undefined : waited(5)
    })
    await Promise.race([answered, asking.stopped])
  }
}

const tellAway = (): void => {
  for (const [fault, times] of awayMs) {
    const sorted = times.sort((a, b) => a - b)
    const at = (part: number): string => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(0)
    process.stderr.write(`${fault}: ${sorted.length} times, median ${at(0.5)} ms, 99 % ${at(0.99)}, longest ${at(1)}\n`)
  }
}

/** A schedule mostly waits for processes to start. */
const AT_ONCE = 6

const judge = async (seeds: ReadonlyArray<number>): Promise<void> => {
  const left = [...seeds]
  let done = 0
  const worker = async (): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const { slots, refusals } = await Schedule.run(seed)
      const twice = [...slots].filter(([, digests]) => digests.size > 1)
      expect({ seed, twice }).toEqual({ seed, twice: [] })
      // Guards the test itself: the signer signed, and it had conflicts to refuse.
      expect(slots.size).toBeGreaterThan(10)
      expect(refusals).toBeGreaterThan(10)
      if (++done % 100 === 0) tellAway()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  tellAway()
}

const seedsFrom = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n)

const LIMIT_MS = 2 * 3_600_000

describe("the signer's process", () => {
  it("gives no slot two signatures while it is killed and stands still", () => judge([1]), LIMIT_MS)

  it(
    Rest.of("more schedules", "gives no slot two signatures in any of these schedules"),
    () => judge(seedsFrom(2, Number(process.env["UDG_SIGNER_SCHEDULES"] ?? "40"))),
    LIMIT_MS,
  )

  it(
    "refuses everything after its directory was lost, until the operator says from where",
    async () => {
      const path = folder(ofTest)
      expect(await SignerProcess.signFrom(path, "1:1")).toBe(0)
      const before = await start(path)
      const first = connected(ofTest, before, nodes[0])
      const given = new Given()
      await given.ask(first, 5, 1)
      first.stop()
      await before.kill()
      rmSync(path.directory, { recursive: true })

      const empty = await start(path)
      const second = connected(ofTest, empty, nodes[0])
      for (const round of [5, 6, 1_000]) await given.ask(second, round, 2)
      expect([given.slots.size, given.refusals]).toEqual([1, 3])
      second.stop()
      await empty.kill()

      expect(await SignerProcess.signFrom(path, "2:1")).toBe(0)
      expect(await SignerProcess.signFrom(path, "1:1")).toBe(1)
      const after = await start(path)
      const third = connected(ofTest, after, nodes[0])
      await given.ask(third, 6, 2)
      expect(given.refusals).toBe(4)
      const message = Statements.vertex({ epoch: 2, round: 1 })
      expect(Either.isRight(await third.sign(publicKey, message))).toBe(true)
      third.stop()
      await after.kill()
    },
    LIMIT_MS,
  )
})
