/**
 * The simulator's disks fold writes in memory, while the node keeps them in tables. A node that loads its database
 * finds what the simulator's machine finds on its disk, whatever was written.
 */
import { setImmediate as turn } from "node:timers/promises"
import { Effect, Either } from "effect"
import { describe, expect } from "vitest"
import { toHex } from "#crypto"
import type { StoredEpoch } from "../../src/consensus/output/StoredEpoch.js"
import * as Position from "../../src/ledger/trie/Position.js"
import * as Disk from "../../src/node/engine/Disk.js"
import * as Loading from "../../src/node/start/Loading.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { SignedCheckpoint } from "../../src/protocol/epoch/Checkpoint.js"
import type { Genesis } from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Header } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { LoadedState } from "../../src/replica/disk/LoadedState.js"
import type { StoredState } from "../../src/replica/disk/StoredState.js"
import type { Write } from "../../src/replica/output/Write.js"
import { Storage } from "../../src/storage/Storage.js"
import { Chance } from "../simulation/Chance.js"
import type { Host } from "../simulation/Host.js"
import { optionsOf, Simulation } from "../simulation/Simulation.js"
import { inDirectory } from "../storage/world.js"
import * as Rest from "../support/Rest.js"
import * as Stored from "../support/Stored.js"
import { withPlatform } from "./withDirectory.js"
import * as world from "./world.js"

const TABLE_KEY = { low: 1, high: 2 }
const WHOLE_STATE = Binary.encode((writer) => Position.write(writer, Position.ROOT))
/** Points in the middle of a life where both are compared, besides those where much changes. */
const PLACES = 6
const NETWORKS = 5

interface History {
  readonly host: Host
  readonly genesis: Genesis
  readonly writes: ReadonlyArray<Write>
}

/**
 * All writes of the machines of a network whose faults spare the disks: several epochs, in which some machines join.
 */
const livesOf = (seed: number): ReadonlyArray<History> => {
  const writes = new Map<Host, Array<Write>>()
  const options = optionsOf(seed, 4, 200, ["network", "joins", "newcomers", "byzantine"])
  const simulation = new Simulation(options, (host, write) => {
    writes.set(host, [...(writes.get(host) ?? []), write])
  })
  expect(simulation.run().failure).toBeNull()
  const chance = new Chance(seed, "foreign headers")
  return [...writes].map(([host, written]) => ({
    host,
    genesis: simulation.genesis,
    // Nobody has a double here, so some of what was signed here passes for unsigned.
    writes: written.flatMap((write) =>
      write._tag === "OwnVertex" && chance.percent(2)
        ? [write, { _tag: "ForeignOwnHeader", header: write.vertex.header } as const]
        : [write],
    ),
  }))
}

const has = (tag: Write["_tag"], { writes }: History): boolean => writes.some(({ _tag }) => _tag === tag)

const BIG_STEPS: ReadonlySet<Write["_tag"]> = new Set(["JoinBegun", "Joined", "EpochStarted", "CheckpointFinal"])

/** How many writes are done at each of the points. */
const placesIn = ({ writes }: History, chance: Chance): ReadonlyArray<number> => {
  const drawn = Array.from({ length: PLACES }, () => chance.between(1, writes.length))
  const steps = writes.flatMap(({ _tag }, i) => (BIG_STEPS.has(_tag) ? [i + 1] : []))
  return [...new Set([...drawn, ...steps, writes.length])].sort((a, b) => a - b)
}

// The compared data, without what neither side promises: the order of signatures and remembered headers, and data older
// than a node looks back.

const signedOf = ({ checkpoint, signatures }: SignedCheckpoint) => ({
  checkpoint,
  signatures: signatures.map(({ validator, signature }) => `${validator} ${signature}`).sort(),
})

const hashesOf = (vertices: Iterable<Vertex>) => [...vertices].map(({ header }) => header.hash)
const headersOf = (headers: Iterable<Header>) => [...headers].map(({ hash }) => hash).sort()

const epochOf = ({ opening, vertices, commits, checkpoints, signed }: StoredEpoch) => ({
  opening,
  vertices: hashesOf(vertices),
  commits,
  checkpoints,
  signed: signed.map(signedOf),
})

const pictureOf = (contents: StoredState, { ledger, trie, views, closing }: LoadedState) => {
  const { current, previous, closings, join } = contents
  const { epoch } = current.opening.record
  const foreign = [...contents.foreignHeaders].filter((header) => header.epoch >= epoch - 1)
  const lastTwo = closings.filter(({ checkpoint }) => checkpoint.epoch < epoch && checkpoint.epoch >= epoch - 2)
  return {
    current: epochOf(current),
    previous: previous && { ...epochOf(previous), highestHeaders: headersOf(previous.highestHeaders) },
    ownVertices: hashesOf(contents.ownVertices),
    companions: hashesOf(contents.companions),
    foreignHeaders: headersOf(foreign),
    pending: [...contents.pending].map(({ transaction, receivedAt }) => [transaction.id, receivedAt]),
    closings: lastTwo.map(signedOf),
    join: join && { target: signedOf(join.target), subtrees: join.subtrees.map(toHex) },
    records: [...ledger.records()].map(({ kind, key, value }) => `${kind} ${toHex(key)} ${toHex(value)}`).sort(),
    effectsDigest: ledger.effectsDigest,
    root: trie.hash,
    closing,
    closedStates: lastTwo.map(({ checkpoint }) => {
      const subtree = views.subtree(checkpoint.stateRoot, WHOLE_STATE)
      return subtree && toHex(subtree)
    }),
  }
}

const folded = (stored: Stored.Stored) =>
  pictureOf(
    stored,
    Either.getOrThrowWith(Stored.open(stored, TABLE_KEY), ({ message }) => new Error(message)),
  )

const loaded = ({ host: { signer }, genesis }: History) =>
  Effect.map(
    Loading.load(genesis, signer && Address.fromPublicKey(signer.publicKey), TABLE_KEY),
    ({ contents, opened }) => pictureOf(contents, opened),
  )

const compare = (life: History, chance: Chance) =>
  Effect.gen(function* () {
    const directory = yield* world.temporaryDirectory
    const { genesis, writes } = life
    yield* inDirectory(
      directory,
      (storage) =>
        Effect.gen(function* () {
          const stored = Stored.ofGenesis(genesis)
          let done = 0
          expect(yield* loaded(life)).toEqual(folded(stored))
          for (const place of placesIn(life, chance)) {
            const next = writes.slice(done, place)
            for (const batch of Disk.batched(next)) yield* Disk.keep(storage, batch, Natural.timestamp(0))
            for (const write of next) stored.apply(write)
            done = place
            expect(yield* loaded(life), `after ${done} writes of ${life.host.name}`).toEqual(folded(stored))
          }
        }).pipe(Effect.provideService(Storage, storage)),
      genesis,
    )
  })

describe(Rest.of("whole networks", "the writes of a network, folded in memory and read back from the database"), {
  timeout: 1_800_000,
}, () => {
  const worth = (lives: ReadonlyArray<History>) => {
    const joiner = lives.find((life) => has("Joined", life))
    const member = lives.find((life) => has("OwnVertex", life) && has("EpochStarted", life))
    return joiner !== undefined && member !== undefined ? new Set([joiner, member]) : undefined
  }

  withPlatform("read the same at any point in the life of a machine", function* () {
    let found = 0
    // The first networks in which somebody joins and a committee member sees an epoch begin.
    for (let seed = 1; found < NETWORKS && seed <= 50; seed++) {
      // A network takes many seconds of pure computation.
      yield* Effect.promise(() => turn())
      const lives = worth(livesOf(seed))
      if (lives === undefined) continue
      found++
      const chance = new Chance(seed, "places")
      for (const life of lives) yield* compare(life, chance)
    }
    expect(found).toBe(NETWORKS)
  })
})
