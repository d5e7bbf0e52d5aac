/**
 * Four validators under load whose power is cut again and again: of one, several or all of them at once. Meanwhile
 * their clocks are set forward and back by up to a day. UDG_POWER_CUTS sets the number of cuts.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, describe, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import { Chance } from "../simulation/Chance.js"
import * as PowerCut from "../storage/PowerCut.js"
import * as Recorded from "../support/Recorded.js"
import * as Rest from "../support/Rest.js"
import * as Processes from "./Processes.js"
import * as Wallet from "./Wallet.js"

const CUTS = Number(process.env["UDG_POWER_CUTS"] ?? 2)
const SEED = Number(process.env["UDG_CRASH_SEED"] ?? 20_260_131)
const VALIDATORS = 4
const ROUND_MS = 150
/** Until all sign again. Long enough for a slow machine; only ends a network that has stopped. */
const COMEBACK_MS = 300_000
const MOST_LIFE_MS = 1_500
/** To each node, between two cuts. */
const PAYMENTS = 5

afterEach(Processes.removeAll)

type Rows = ReadonlyArray<ReadonlyArray<unknown>>
type Look = (file: string, statement: string) => Rows

const VERTEX = "epoch, round, hex(author), hex(hash)"

/** What any node has received, whatever happened to the files since. */
class Told {
  readonly #vertices = new Map<string, string>()
  readonly #commits = new Map<string, string>()
  readonly #epochs = new Map<string, unknown>()
  readonly #transactions = new Set<string>()
  readonly contradictions: Array<string> = []

  #keep(known: Map<string, string>, what: string, value: string): void {
    const before = known.get(what)
    if (before !== undefined && before !== value) this.contradictions.push(`${what}: ${before}, then ${value}`)
    known.set(what, value)
  }

  #keepVertices(vertices: Rows): void {
    for (const [epoch, round, author, hash] of vertices) {
      this.#keep(this.#vertices, `vertex of ${author} in ${epoch}/${round}`, String(hash))
    }
  }

  /** What a node has signed. After a power cut, only what is left, since the rest reached no other node. */
  addSigned(directory: string, look: Look): void {
    this.#keepVertices(look(join(directory, "signed.db"), `select ${VERTEX} from own_vertices`))
  }

  /**
   * What else a node keeps: commits and transactions that it may have reported, and every vertex that it has placed.
   */
  addKept(directory: string, look: Look): void {
    const ledger = join(directory, "udg.db")
    this.#keepVertices(look(ledger, `select ${VERTEX} from vertices`))
    const commits = "select commit_index, hex(hash) || hex(effects_digest), epoch from commits"
    for (const [index, hash, epoch] of look(ledger, commits)) {
      this.#keep(this.#commits, `commit ${index}`, String(hash))
      this.#epochs.set(`commit ${index}`, epoch)
    }
    for (const [id] of look(ledger, Recorded.SHORT_HASHES)) this.#transactions.add(String(id))
  }

  get transactions(): number {
    return this.#transactions.size
  }

  /**
   * Final commits that a node lacks although it executed their epoch, and final transactions that no node has. On a slow
   * machine a node comes back more than an epoch later and joins by a close that others have built.
   */
  lostBy(directories: ReadonlyArray<string>, look: Look): ReadonlyArray<string> {
    const commits = directories.flatMap((directory) => {
      const ledger = join(directory, "udg.db")
      const given = new Set(
        look(ledger, "select epoch from checkpoints where is_closing = 1 and is_built = 0").map(([epoch]) => epoch),
      )
      const here = new Set(look(ledger, "select commit_index from commits").map(([index]) => `commit ${index}`))
      const expected = [...this.#commits.keys()].filter((commit) => !given.has(this.#epochs.get(commit)))
      return expected.filter((commit) => !here.has(commit)).map((commit) => `${commit} of ${directory}`)
    })
    const transactions = new Set(
      directories.flatMap((at) => look(join(at, "udg.db"), Recorded.SHORT_HASHES).map(([id]) => String(id))),
    )
    return [...commits, ...[...this.#transactions].filter((id) => !transactions.has(id))]
  }
}

/** Of running and ended nodes alike. */
const everywhere = (network: Processes.Founded): ReadonlyArray<string> =>
  [...network.keys.keys()].map((n) => join(network.folder, `node-${n}`))

const numberIn = (rows: Rows): number => Number(rows[0]?.[0] ?? 0)

/** The highest round of any known vertex. */
const highestRound = (network: Processes.Founded): number =>
  Math.max(
    ...everywhere(network).map((directory) =>
      numberIn(Processes.rows(join(directory, "udg.db"), "select max(round) from vertices")),
    ),
    ...everywhere(network).map((directory) =>
      numberIn(Processes.rows(join(directory, "signed.db"), "select max(round) from own_vertices")),
    ),
  )

/** The payer's next nonce after everything final. */
const nextNonce = (network: Processes.Founded): number => {
  const address = Address.fromPublicKey(network.rich.publicKey)
  const statement = `select nonce from accounts where address = '${address}'`
  return Math.max(...everywhere(network).map((at) => numberIn(Processes.rows(join(at, "udg.db"), statement))))
}

/** The first round after this one in which every validator has a vertex, as all nodes know it; 0 if there is none. */
const firstFullRound = (network: Processes.Founded, behind: number): number => {
  const authors = network.keys.map(({ publicKey }) => `x'${Address.fromPublicKey(publicKey)}'`).join(", ")
  const rounds = everywhere(network).map((directory) =>
    numberIn(
      Processes.rows(
        join(directory, "udg.db"),
        `select min(round) from (select round from vertices where round > ${behind} and author in (${authors})
          group by round having count(distinct author) = ${VALIDATORS})`,
      ),
    ),
  )
  return rounds.includes(0) ? 0 : Math.max(...rounds)
}

/** Which nodes lose power together: all of them in half of the cases. */
const victimsOf = (chance: Chance): ReadonlyArray<number> => {
  const count = chance.percent(50) ? VALIDATORS : 1 + chance.below(VALIDATORS - 1)
  return chance.shuffle([...Array(VALIDATORS).keys()]).slice(0, count)
}

/** Sets the clock of a running or future node. One in four is set right. */
const setClock = (file: string, chance: Chance): void => {
  const offsetMs = chance.percent(25)
    ? 0
    : Math.round((chance.fraction() - 0.5) * 2 * 1_000 ** (1 + chance.fraction() * 1.6))
  writeFileSync(file, String(offsetMs))
}

const wayOf = (file: string) => ({
  execArgv: ["--import", join(import.meta.dirname, "steppedClock.mjs")],
  environment: { UDG_CLOCK_FILE: file },
})

const portOf = ({ p2p }: Processes.Started): string => p2p.split(":").at(-1) ?? "0"

const summary = (figures: ReadonlyArray<number>): string => {
  const sorted = [...figures].sort((a, b) => a - b)
  return `median ${sorted[sorted.length >> 1]}, most ${sorted.at(-1)}`
}

describe(
  Rest.of("starts a network again and again", "four validators that lose power, with clocks that are set"),
  () => {
    it(
      `recover by themselves from ${CUTS} cuts, lose nothing final and sign nothing twice (seed ${SEED})`,
      async () => {
        const chance = new Chance(SEED)
        const network = Processes.found({ roundMs: ROUND_MS, epochRounds: 40 })
        const clocks = [...network.keys.keys()].map((n) => join(network.folder, `${n}.clock`))
        const nodes: Array<Processes.Started> = []
        for (const [n, clock] of clocks.entries()) {
          setClock(clock, chance)
          nodes.push(await Processes.startValidator(network, n, nodes, [], undefined, wayOf(clock)))
        }
        const told = new Told()
        const rounds: Array<number> = []

        const goOn = async (behind: number): Promise<void> => {
          await Processes.until("all sign again", () => firstFullRound(network, behind) > 0, COMEBACK_MS)
        }

        await goOn(0)
        for (let cut = 1; cut <= CUTS; cut++) {
          // Pending transactions may be lost, so the same ones are sent again.
          const from = nextNonce(network)
          for (const [n, node] of nodes.entries()) await Wallet.pay(node, network, PAYMENTS, from + n * PAYMENTS)
          await sleep(chance.fraction() * MOST_LIFE_MS)
          for (const clock of clocks) if (chance.percent(50)) setClock(clock, chance)
          await sleep(chance.fraction() * MOST_LIFE_MS)
          const victims = victimsOf(chance)
          const dying = victims.flatMap((n) => nodes[n] ?? [])
          await Promise.all(dying.map(({ kill }) => kill()))
          for (const { directory } of dying) {
            told.addKept(directory, PowerCut.look)
            PowerCut.cutNode(directory, chance)
            told.addSigned(directory, PowerCut.look)
          }
          const before = highestRound(network)
          const starts = victims.map(async (n) => {
            const old = nodes[n]
            if (old === undefined) return
            const others = nodes.filter((_, other) => other !== n)
            const way = wayOf(clocks[n] ?? "")
            nodes[n] = await Processes.startValidator(network, n, others, ["--port", portOf(old)], undefined, way)
          })
          await Promise.all(starts)
          const behind = victims.length === VALIDATORS ? before : highestRound(network)
          await goOn(behind)
          rounds.push(firstFullRound(network, behind) - behind)
          expect(told.contradictions).toEqual([])
        }

        const last = highestRound(network)
        await Processes.everybodyAt(nodes, last)
        for (const { directory } of nodes) {
          told.addKept(directory, Processes.rows)
          told.addSigned(directory, Processes.rows)
        }
        expect(told.contradictions).toEqual([])
        // The nodes continue meanwhile, so the last one may be a commit ahead.
        await Processes.everybodyAt(nodes, highestRound(network))
        expect(told.lostBy(everywhere(network), Processes.rows)).toEqual([])
        expect(told.transactions).toBeGreaterThan(CUTS)
        process.stderr.write(`rounds until all sign again, after ${CUTS} cuts: ${summary(rounds)}\n`)
      },
      120_000 + CUTS * 90_000,
    )
  },
)
