/** Work that passes the assertions of the pure rooms, for `assertions.ts`, which bundles it with and without them. */
import { cpuUsage } from "node:process"
import { Either } from "effect"
import { Epoch } from "../src/consensus/Epoch.js"
import { Ledger } from "../src/ledger/Ledger.js"
import { PendingTransactions } from "../src/ledger/pending/PendingTransactions.js"
import * as Trie from "../src/ledger/trie/Trie.js"
import * as Hash from "../src/protocol/identity/Hash.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Vertex from "../src/protocol/vertex/Vertex.js"
import { equalWeights, openingOf, recordOf } from "../test/consensus/TestCommittee.js"
import { parentOf, VertexBuilder } from "../test/consensus/VertexBuilder.js"
import { Chain, genesisOf, person, tableKey } from "../test/ledger/builders.js"

const NOW = Natural.timestamp(1_700_000_000_000)

/** In one run: one alone is too short to compare. */
const COMMITS = 5

/** Milliseconds of processor time of one run, made ready before. */
type Work = () => number

const timed = (work: () => unknown): number => {
  const before = cpuUsage()
  work()
  const { user, system } = cpuUsage(before)
  return (user + system) / 1_000
}

/** Commits of transfers, with the checkpoint's trie after each. */
const executing = (): Work => {
  const names = Array.from({ length: 2_000 }, (_, i) => `holder ${i}`)
  const people = names.map(person)
  const accounts = Object.fromEntries(names.map((name) => [name, 1_000]))
  const genesis = genesisOf({
    accounts,
    validators: { val: 10_000 },
    parameters: { cooldownRounds: 10_000 },
    protocol: { epochRounds: 10_000 },
  })
  const chain = new Chain(genesis, Ledger.fromGenesis(genesis, tableKey))
  let trie = Trie.apply(Trie.empty, chain.ledger.entries())
  let turn = 0
  const commit = () => {
    turn++
    const transactions = people.map((from, i) =>
      chain.transfer(from, people[(i + turn) % people.length] ?? from, 1_000),
    )
    const round = chain.round + 1
    const vertices = [chain.vertex({ by: person("val"), transactions }, round)]
    chain.inputs.length = 0
    return timed(() => {
      Either.getOrThrowWith(chain.executeVertices(vertices, round), (violation) => violation)
      trie = Trie.apply(trie, chain.ledger.freeze())
    })
  }
  return () => Array.from({ length: COMMITS }, commit).reduce((sum, ms) => sum + ms, 0)
}

/** Vertices of twenty members, from their bytes to their order. */
const ordering = (): Work => {
  const builder = new VertexBuilder(openingOf(recordOf(equalWeights(20))))
  let below: ReadonlyArray<Vertex.Vertex> = []
  const encoded = Array.from({ length: 40 }, (_, i) => {
    below = Array.from({ length: 20 }, (_, seat) => builder.make(seat, i + 1, below.map(parentOf)))
    return below.map((vertex) => vertex.encoded)
  }).flat()
  const network = genesisOf({}).networkId
  return () => {
    const epoch = new Epoch(builder.opening, builder.committee.member(0).address, () => undefined)
    return timed(() => {
      for (const bytes of encoded) epoch.receive(Either.getOrThrow(Vertex.decode(network, bytes)))
    })
  }
}

/** A mempool that fills and overflows. */
const pending = (): Work => {
  const names = Array.from({ length: 400 }, (_, i) => `sender ${i}`)
  const chain = new Chain({
    accounts: Object.fromEntries(names.map((name) => [name, 1_000])),
    validators: { val: 10_000 },
  })
  const transactions = names.flatMap((name, i) =>
    Array.from({ length: 30 }, (_, n) =>
      chain.transfer(person(name), person("val"), 1, 1_000 + ((i * 7_919 + n) % 997)),
    ),
  )
  const door = {
    admission: () => undefined,
    hasEffect: () => true,
    spending: () => Sats.make(1_000),
    account: () => ({ nonce: Natural.nonce(0), balance: Sats.MAX_SUPPLY }),
  }
  return () => {
    const pool = new PendingTransactions(door)
    return timed(() => {
      for (const transaction of transactions) pool.submit(transaction, NOW, Natural.round(10))
    })
  }
}

/** A large trie, in which ten thousand records change. */
const trie = (): Work => {
  const changes = (count: number, salt: number) =>
    Array.from({ length: count }, (_, i) => ({
      key: Hash.of("udg/key", new TextEncoder().encode(String(i))),
      value: new Uint8Array(60).fill(salt),
    }))
  let state = Trie.apply(Trie.empty, changes(100_000, 0))
  let salt = 0
  const changed = changes(10_000, 0).map(({ key }) => key)
  return () => {
    const some = changed.map((key) => ({ key, value: new Uint8Array(60).fill(++salt & 0xff) }))
    return timed(() => {
      state = Trie.apply(state, some)
    })
  }
}

const works = { executing, ordering, pending, trie }
const RUNS = 30

/** The least milliseconds of each. */
export type Measured = { readonly [name: string]: number }

const measured: Measured = Object.fromEntries(
  Object.entries(works).map(([name, make]) => {
    const run = make()
    return [name, Math.min(...Array.from({ length: RUNS }, run))]
  }),
)
process.stdout.write(JSON.stringify(measured))
