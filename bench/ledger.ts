// The cost of executing commits and of a checkpoint with a million accounts, compared with the cost of hashing.
// Transactions are made in advance, with placeholder signatures, which are not checked here.
import { createHash } from "node:crypto"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Either } from "effect"
import { Ledger } from "../src/ledger/Ledger.js"
import type { Execution } from "../src/ledger/rules/Execution.js"
import * as Trie from "../src/ledger/trie/Trie.js"
import * as Genesis from "../src/protocol/epoch/Genesis.js"
import * as Address from "../src/protocol/identity/Address.js"
import * as Hash from "../src/protocol/identity/Hash.js"
import type { PublicKey } from "../src/protocol/identity/Keys.js"
import type { NetworkId } from "../src/protocol/identity/Network.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Transaction from "../src/protocol/transaction/Transaction.js"
import { Chain, genesisOf, type Person, person, singleKey, tableKey, type World } from "../test/ledger/builders.js"
import { type Figure, median, type Suite } from "./Harness.js"

const ACCOUNTS = 1_000_000
/** The number of accounts for comparison. */
const FEW_ACCOUNTS = 10_000
const TRANSFERS = 5_000
const VERTICES = 4
const COMMITS = 15
/** Commits before the measurement, so that the code is compiled. */
const WARM_UP = 5
const CHANGED = 10_000
const CHECKPOINTS = 9
const SLICE_MS = 10
const LEAVERS = 60_000
const WORLD: World = { protocol: { epochRounds: 10_000 }, parameters: { cooldownRounds: 10_000 } }

const timed = <A>(run: () => A): readonly [A, number] => {
  const started = performance.now()
  const result = run()
  return [result, performance.now() - started]
}

const milliseconds = (name: string, value: number): Figure => ({ name, value, unit: "ms" })
const rate = (name: string, count: number, ms: number): Figure => ({
  name,
  value: (count / ms) * 1_000,
  unit: "a second",
})
const bytesEach = (name: string, bytes: number): Figure => ({
  name,
  value: Math.round(bytes * (1 / ACCOUNTS)),
  unit: "bytes",
})

setFlagsFromString("--expose-gc")
const collect: unknown = runInNewContext("gc")
const memoryNow = (): number => {
  for (let i = 0; i < 3; i++) if (typeof collect === "function") collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const hashing = (): Figure => {
  const bytes = new Uint8Array(72)
  for (let i = 0; i < 20_000; i++) Hash.of("udg/node", bytes)
  const [, ms] = timed(() => {
    for (let i = 0; i < 300_000; i++) Hash.of("udg/node", bytes)
  })
  return rate("SHA-256 of 72 bytes, one core", 300_000, ms)
}

/** Generated on demand: a million objects on the heap would dominate the collector's pauses. */
const holder = (n: number): Person => {
  const publicKey = createHash("sha256").update(`holder ${n}`).digest("hex") as PublicKey
  return { name: "", publicKey, address: Address.fromPublicKey(publicKey) }
}

const genesisWith = (holders: number, world: World): Genesis.Genesis =>
  Either.getOrThrow(
    Genesis.make({
      ...genesisOf(world),
      allocations: Array.from({ length: holders }, (_, n) => ({
        address: holder(n).address,
        amount: Sats.make(1_000_000_000),
      })),
    }),
  )

/** The same numbers every time, scattered like real addresses. */
let drawn = 1
const draw = (below: number): number => {
  drawn = (Math.imul(drawn, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((drawn >>> 8) * (below / 2 ** 24))
}

const network = "udg-bench" as NetworkId

const nonces = new Uint32Array(ACCOUNTS)

const transferBetween = (from: number, to: number): Transaction.Transaction => {
  const [sender, recipient] = [holder(from), holder(to)]
  const nonce = nonces[from] ?? 0
  nonces[from] = nonce + 1
  const operation = { _tag: "Transfer", to: recipient.address, amount: Sats.make(5), memo: "" } as const
  // Decoded from bytes, as from a vertex, so that it has its own strings.
  return Either.getOrThrow(
    Transaction.decode(
      network,
      Transaction.make(
        network,
        { from: sender.address, nonce: Natural.nonce(nonce), fee: Sats.make(1_000), operation },
        singleKey(sender),
      ).encoded,
    ),
  )
}

const commitOf = (chain: Chain, transfers: ReadonlyArray<Transaction.Transaction>): readonly [Execution, number] => {
  const round = chain.round + 1
  const vertices = Array.from({ length: VERTICES }, (_, i) => {
    const transactions = transfers.slice(i * TRANSFERS, (i + 1) * TRANSFERS)
    return chain.vertex({ by: person("val"), transactions }, round)
  })
  const [result, ms] = timed(() => chain.executeVertices(vertices, round))
  chain.inputs.length = 0
  return [Either.getOrThrowWith(result, (violation) => violation), ms]
}

/** Milliseconds of consecutive commits of transfers between strangers. */
const commits = (chain: Chain, accounts: number): ReadonlyArray<number> => {
  nonces.fill(0)
  return Array.from({ length: WARM_UP + COMMITS }, () => {
    const made = Array.from({ length: TRANSFERS * VERTICES }, () => transferBetween(draw(accounts), draw(accounts)))
    const [execution, ms] = commitOf(chain, made)
    const applied = execution.vertices.flatMap((vertex) => vertex.transactions).filter(({ _tag }) => _tag === "Applied")
    if (applied.length !== made.length) throw new Error(`${applied.length} of ${made.length} transfers were applied`)
    return ms
  }).slice(WARM_UP)
}

const transfers = (chain: Chain): ReadonlyArray<Figure> => {
  const few = new Chain(
    genesisWith(FEW_ACCOUNTS, WORLD),
    Ledger.fromGenesis(genesisWith(FEW_ACCOUNTS, WORLD), tableKey),
  )
  const among = { few: median(commits(few, FEW_ACCOUNTS)), many: commits(chain, ACCOUNTS) }
  const times = among.many
  return [
    rate("plain transfers executed, changes collected and chained, median", TRANSFERS * VERTICES, median(times)),
    rate("… the fastest commit", TRANSFERS * VERTICES, Math.min(...times)),
    rate("… the same among 10 000 accounts, median", TRANSFERS * VERTICES, among.few),
    { name: "… cost among 1 000 000 beside that", value: median(times) / among.few, unit: "times" },
  ]
}

const updated = (trie: Trie.Trie, changes: Iterable<Trie.Change>) => {
  const slices: Array<number> = []
  const [job, start] = timed(() => Trie.update(trie, changes))
  slices.push(start)
  for (;;) {
    const [next, ms] = timed(() => {
      const until = performance.now() + SLICE_MS
      return job.step(() => performance.now() < until)
    })
    slices.push(ms)
    if (next !== undefined)
      return { trie: next, total: slices.reduce((a, b) => a + b, 0), longest: Math.max(...slices) }
  }
}

const checkpoints = (chain: Chain, first: Trie.Trie): ReadonlyArray<Figure> => {
  let trie = first
  const runs = Array.from({ length: CHECKPOINTS }, (_, checkpoint) => {
    const at = checkpoint * CHANGED
    commitOf(
      chain,
      Array.from({ length: CHANGED / 2 }, (_, i) => transferBetween(at + 2 * i, at + 2 * i + 1)),
    )
    const [frozen, freezing] = timed(() => chain.ledger.freeze())
    const run = updated(trie, frozen)
    trie = run.trie
    return { total: run.total + freezing, longest: Math.max(run.longest, freezing) }
  })
  return [
    milliseconds("checkpoint root after 10 000 changed accounts, median", median(runs.map(({ total }) => total))),
    milliseconds("… the slowest of nine", Math.max(...runs.map(({ total }) => total))),
    milliseconds("… longest slice, median", median(runs.map(({ longest }) => longest))),
    milliseconds("… longest slice of all", Math.max(...runs.map(({ longest }) => longest))),
  ]
}

const founded = (world: World) => {
  const genesis = genesisWith(ACCOUNTS, world)
  const [ledger, founding] = timed(() => Ledger.fromGenesis(genesis, tableKey))
  return { ledger, founding }
}

/** Many delegators leave one validator in one epoch: the cost of the close, and of the commits that release them. */
const departures = (): ReadonlyArray<Figure> => {
  const leavers = Array.from({ length: LEAVERS }, (_, n) => holder(n))
  const chain = new Chain(genesisWith(LEAVERS, {}))
  const val = person("val")
  for (let from = 0; from < LEAVERS; from += TRANSFERS) {
    const some = leavers.slice(from, from + TRANSFERS)
    chain.run(...some.flatMap((who) => [chain.delegate(who, val, 500_000_000), chain.undelegate(who)]))
  }
  chain.inputs.length = 0
  chain.advanceTo(chain.lastRound - 1)
  const [, closing] = timed(() => chain.advanceTo(chain.lastRound))
  chain.closeEpoch()
  chain.closeEpoch()
  const releasing: Array<number> = []
  while (chain.ledger.read.totals.delegated > 0) releasing.push(timed(() => chain.commit([{ by: val }]))[1])
  return [
    milliseconds(`closing an epoch in which ${LEAVERS} delegators left`, closing),
    milliseconds("… a commit that releases 1 000 of them, median", median(releasing)),
    milliseconds("… the slowest", Math.max(...releasing)),
  ]
}

export const suite: Suite = {
  about: "executing commits on a million accounts, and making their checkpoint",
  figures: () => {
    const hash = hashing()
    const before = memoryNow()
    const { ledger, founding } = founded(WORLD)
    // Needs only the genesis' time, not its million allocations.
    const chain = new Chain(genesisOf(WORLD), ledger)
    const frozen = ledger.freeze()
    const withoutTrie = memoryNow()
    const built = updated(Trie.empty, frozen)
    const withTrie = memoryNow()
    const executing = transfers(chain)
    const afterwards = ledger.freeze()
    const { trie } = updated(built.trie, afterwards)
    const checkpointing = checkpoints(chain, trie)
    const [counted, counting] = timed(() => ledger.recount())
    Either.getOrThrowWith(counted, (violation) => violation)
    return [
      hash,
      ...executing,
      ...checkpointing,
      milliseconds("first root of 1 000 000 accounts, frozen and built", built.total),
      milliseconds("… longest slice", built.longest),
      bytesEach("memory an account, without the trie", withoutTrie - before),
      bytesEach("… with the trie", withTrie - before),
      milliseconds("from a genesis of 1 000 000 allocations", founding),
      milliseconds("recount of the supply", counting),
      ...departures(),
    ]
  },
}
