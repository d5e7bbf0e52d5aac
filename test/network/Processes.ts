/** Networks of real processes on this machine's loopback: creating, starting, killing and inspecting them. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Either } from "effect"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import { Sqlite as Database } from "../../src/storage/sqlite/Driver.js"
import * as Recorded from "../support/Recorded.js"
import type { Lines, Way } from "./Lines.js"

export const built = resolve(import.meta.dirname, "../../dist/main.js")

export interface Founded {
  readonly folder: string
  readonly genesis: Genesis.Genesis
  readonly genesisFile: string
  readonly keys: ReadonlyArray<SecretKey>
  /** Has coins and validates nothing. */
  readonly rich: SecretKey
}

export interface Wish {
  readonly validators?: number
  readonly roundMs?: number
  readonly epochRounds?: number
  /** Few, so that short lives see checkpoints; measurements use the network's default. */
  readonly checkpointRounds?: number
  readonly networkId?: string
  readonly allocations?: ReadonlyArray<Genesis.Allocation>
  /** When it begins; long ago if left out. */
  readonly time?: number
  /** The rich account also has a faucet, with its key in `faucet.key`. */
  readonly hasFaucet?: boolean
  readonly parameters?: Partial<Parameters.Parameters>
}

const writeKey = (file: string, key: SecretKey): void => writeFileSync(file, `${key.toSecretHex()}\n`, { mode: 0o600 })

const folders = new Set<string>()

/** A network's genesis and keys in a new folder. */
export const found = (wish: Wish = {}): Founded => {
  const { validators = 4, roundMs = 150, epochRounds = 60, checkpointRounds = 10, allocations = [] } = wish
  const { networkId = "udg-processes", hasFaucet = false, parameters = {}, time = 1_700_000_000_000 } = wish
  const folder = mkdtempSync(join(tmpdir(), "udg-network-"))
  folders.add(folder)
  const keys = Array.from({ length: validators }, () => SecretKey.generate())
  const rich = SecretKey.generate()
  const owner = { address: Address.fromPublicKey(rich.publicKey), amount: Sats.make(1_000_000 * Sats.SATS_PER_COIN) }
  const genesis = Either.getOrThrow(
    Genesis.make({
      networkId: networkId as NetworkId,
      mode: "testnet",
      time: Natural.timestamp(time),
      allocations: [owner, ...allocations],
      validators: keys.map(({ publicKey }) => ({ publicKey, stake: Sats.MIN_STAKE_SATS, commissionPercent: 10 })),
      council: [],
      names: [],
      treasury: Sats.ZERO,
      faucet: hasFaucet ? { address: owner.address, maxRequest: Genesis.standardFaucetMaxRequest } : null,
      parameters: {
        ...Parameters.solo,
        checkpointIntervalRounds: checkpointRounds,
        cooldownRounds: Math.max(Parameters.solo.cooldownRounds, epochRounds),
        ...parameters,
      },
      protocol: {
        ...Protocol.standard,
        roundIntervalMs: roundMs,
        epochRounds,
        collectionDepthRounds: Math.min(30, epochRounds - 1),
      },
    }),
  )
  const genesisFile = join(folder, "genesis.json")
  writeFileSync(genesisFile, JSON.stringify(Genesis.toJson(genesis)))
  for (const [n, key] of keys.entries()) writeKey(join(folder, `${n}.key`), key)
  if (hasFaucet) writeKey(join(folder, "faucet.key"), rich)
  return { folder, genesis, genesisFile, keys, rich }
}

export interface Started {
  readonly name: string
  readonly directory: string
  /** As KEY@HOST:PORT. */
  readonly p2p: string
  readonly http: string | null
  readonly pid: number
  /** What it has logged. */
  readonly log: () => string
  /** Asks it to stop; returns its exit code. */
  readonly stop: () => Promise<number | null>
  readonly kill: () => Promise<number | null>
  readonly ended: Promise<number | null>
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((settle) => {
    child.on("close", (code) => settle(code))
  })

/** Waits until the predicate holds. The limit only ends tests that hang, even on a slow machine. */
export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = 120_000,
): Promise<void> => {
  const began = Date.now()
  while (!(await holds())) {
    if (Date.now() - began > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/**
 * The finalized rounds, once they have not changed for this long: vertices in flight may still be decided, on a busy
 * machine for seconds.
 */
export const standstill = async (nodes: ReadonlyArray<Started>, ms: number): Promise<ReadonlyArray<number>> => {
  let rounds = nodes.map(finalizedRound)
  let since = Date.now()
  await until("nobody finalizes any more", () => {
    const now = nodes.map(finalizedRound)
    if (now.join() !== rounds.join()) since = Date.now()
    rounds = now
    return Date.now() - since >= ms
  })
  return rounds
}

const running = new Set<ChildProcess>()

/** Removes the processes and folders that a test has left. */
export const removeAll = async (): Promise<void> => {
  const left = [...running]
  for (const child of left) child.kill("SIGKILL")
  await Promise.all(left.map((child) => (child.exitCode === null && child.signalCode === null ? ended(child) : null)))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  folders.clear()
}

export const DIRECT: Way = { execArgv: [], environment: {} }

/** The program that a node runs, by default this tree's with this Node. */
export interface Program {
  /** Its `main.js`. */
  readonly program?: string
  readonly node?: string
}

/** The same for an archive or a gateway. */
export interface Executed extends Pick<Program, "program"> {
  readonly execArgv?: ReadonlyArray<string>
}

/** Starts a node in a directory of the network's folder, and waits until it runs. */
export const start = async (
  { folder, genesisFile }: Founded,
  name: string,
  words: ReadonlyArray<string> = [],
  logged = "info,network=debug",
  { execArgv, environment: more, program = built, node = process.execPath }: Way & Program = DIRECT,
): Promise<Started> => {
  const directory = join(folder, `node-${name}`)
  const port = words.includes("--port") ? [] : ["--port", "0"]
  const all = ["--genesis", genesisFile, "--data-dir", directory, "--host", "127.0.0.1", ...port, ...words]
  const environment = { PATH: process.env["PATH"] ?? "", RUST_LOG: logged, ...more }
  const child = spawn(node, [...execArgv, program, ...all], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  })
  running.add(child)
  const said = { out: "", log: "" }
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.log += text))
  const end = ended(child).finally(() => running.delete(child))
  await until(`node ${name} runs: ${said.log}`, () => {
    if (child.exitCode !== null) throw new Error(`node ${name} ended with ${child.exitCode}: ${said.log}`)
    return /^ {2}data directory/m.test(said.out)
  })
  const line = (label: string): string => new RegExp(`^ {2}${label} +(\\S+)$`, "m").exec(said.out)?.[1] ?? ""
  const signal = (which: NodeJS.Signals) => () => {
    child.kill(which)
    return end
  }
  const http = line("rpc")
  return {
    name,
    directory,
    p2p: line("p2p"),
    http: http.startsWith("http") ? http : null,
    pid: child.pid ?? 0,
    log: () => said.log,
    stop: signal("SIGTERM"),
    kill: signal("SIGKILL"),
    ended: end,
  }
}

/** The validator with this number, connected to the existing ones. */
export const startValidator = (
  network: Founded,
  n: number,
  peers: ReadonlyArray<Started>,
  words: ReadonlyArray<string> = [],
  logged?: string,
  way?: Parameters<typeof start>[4],
): Promise<Started> => {
  const own = ["--validator-key", join(network.folder, `${n}.key`), ...peers.flatMap(({ p2p }) => ["--peer", p2p])]
  return start(network, String(n), [...own, ...words], logged, way)
}

export const startAll = async (
  network: Founded,
  words: ReadonlyArray<string> = [],
  logged?: string,
): Promise<ReadonlyArray<Started>> => {
  const nodes: Array<Started> = []
  for (const n of network.keys.keys()) nodes.push(await startValidator(network, n, nodes, words, logged))
  return nodes
}

/** The same with all lines between them through these. */
export const startAllVia = async (network: Founded, lines: Lines): Promise<ReadonlyArray<Started>> => {
  const nodes: Array<Started> = []
  for (const n of network.keys.keys()) {
    const node = await startValidator(network, n, nodes, [], undefined, lines.wayOf(String(n)))
    lines.leadsTo(node.name, node.p2p)
    nodes.push(node)
  }
  return nodes
}

/** The rows of a statement, from the file of a node that may be running. */
export const rows = (file: string, statement: string): ReadonlyArray<ReadonlyArray<unknown>> => {
  const database = new Database(file, { readonly: true })
  try {
    return database.prepare(statement).raw().all() as ReadonlyArray<ReadonlyArray<unknown>>
  } finally {
    database.close()
  }
}

const look = <A>({ directory }: Pick<Started, "directory">, statement: string): ReadonlyArray<A> => {
  const database = new Database(join(directory, "udg.db"), { readonly: true })
  try {
    return database.prepare(statement).all() as ReadonlyArray<A>
  } finally {
    database.close()
  }
}

export interface StoredCommit {
  readonly index: number
  readonly round: number
  readonly hash: string
  readonly effects: string
}

export const commits = (node: Pick<Started, "directory">): ReadonlyArray<StoredCommit> =>
  look(
    node,
    'select commit_index as "index", leader_round as round, hex(hash) as hash, hex(effects_digest) as effects from commits order by 1',
  )

export const finalizedRound = (node: Pick<Started, "directory">): number =>
  count(node, "select coalesce(max(leader_round), 0) as n from commits")

/** Waits as long as it advances, however slowly: the machine may be busy. */
export const everybodyAt = async (
  nodes: ReadonlyArray<Started>,
  round: number,
  standstillMs = 90_000,
): Promise<void> => {
  let rounds: ReadonlyArray<number> = []
  let movedAt = Date.now()
  while (rounds.length === 0 || Math.min(...rounds) < round) {
    const now = nodes.map(finalizedRound)
    if (now.some((each, i) => each !== rounds[i])) movedAt = Date.now()
    rounds = now
    if (Date.now() - movedAt > standstillMs) throw new Error(`stands still at rounds ${rounds}, ${round} expected`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export const verticesOf = (node: Pick<Started, "directory">, key: SecretKey) =>
  look<{ readonly epoch: number; readonly round: number }>(
    node,
    `select epoch, round from vertices where hex(author) = '${Address.fromPublicKey(key.publicKey).toUpperCase()}' order by epoch, round`,
  )

/** The slots that a validator has filled, as a node knows them. A slot listed twice is equivocation. */
export const slotsOf = (node: Pick<Started, "directory">, key: SecretKey): ReadonlyArray<string> =>
  verticesOf(node, key).map(({ epoch, round }) => `${epoch}/${round}`)

export const lastRoundOf = (node: Pick<Started, "directory">, key: SecretKey): number =>
  verticesOf(node, key).at(-1)?.round ?? 0

/**
 * Waits until every validator has signed. One that starts after the others cannot tell its empty disk from a lost one,
 * and signs nothing while the others need it to continue: a test that stops another one before that waits for ever.
 */
export const everybodySigns = (network: Founded, node: Pick<Started, "directory">): Promise<void> =>
  until("every validator has signed", () => network.keys.every((key) => lastRoundOf(node, key) > 0))

/** Checkpoints that a quorum has signed. Their hash covers the state's root. */
export const checkpoints = (
  node: Pick<Started, "directory">,
): ReadonlyArray<{ readonly round: number; readonly hash: string }> =>
  look(node, "select round, hex(hash) as hash from checkpoints where has_quorum = 1 order by round")

const count = (node: Pick<Started, "directory">, statement: string): number =>
  look<{ readonly n: number }>(node, statement)[0]?.n ?? 0

export const accountCount = (node: Pick<Started, "directory">): number =>
  count(node, "select count(*) as n from accounts")

/** The number of final transactions on this node. */
export const recorded = (node: Pick<Started, "directory">): number => count(node, Recorded.COUNT)

/** Those that are not final on this node, in one query: separate ones take minutes for a long history. */
export const notRecorded = (node: Pick<Started, "directory">, ids: ReadonlyArray<Hash>): ReadonlyArray<Hash> => {
  const found = new Set(look<{ readonly short: string }>(node, Recorded.SHORT_HASHES).map(({ short }) => short))
  return ids.filter((id) => !found.has(Recorded.shortOf(id)))
}

/** The transactions of vertices: of those that have all of theirs recorded, and of the others. */
const IN_VERTICES = `select p.bytes from vertices v
    join transaction_packs p on p.last_sequence between v.first_sequence and v.last_sequence
  union all select bytes from vertex_transactions`

/** How many vertices hold each transaction. */
export const timesProposed = (node: Pick<Started, "directory">, networkId: NetworkId): ReadonlyMap<Hash, number> => {
  const times = new Map<Hash, number>()
  for (const { bytes } of look<{ readonly bytes: Uint8Array }>(node, IN_VERTICES)) {
    for (const reader = new Binary.Reader(bytes); reader.remaining > 0; ) {
      const { id } = Transaction.read(networkId, reader)
      times.set(id, (times.get(id) ?? 0) + 1)
    }
  }
  return times
}

/** Removes the vertices of epochs before this one from a node's database, as its own pruning eventually would. */
export const prune = ({ directory }: Pick<Started, "directory">, epoch: number): void => {
  const database = new Database(join(directory, "udg.db"), { readonly: false })
  try {
    database.prepare(`delete from vertices where epoch < ${epoch}`).run()
  } finally {
    database.close()
  }
}
