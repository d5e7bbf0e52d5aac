import { copyFileSync, rmSync } from "node:fs"
import { it } from "@effect/vitest"
import { Clock, Context, Effect, Either, Layer, Option, Stream } from "effect"
import { describe, expect, vi } from "vitest"
import { Epoch } from "../../src/consensus/Epoch.js"
import type { Ledger } from "../../src/ledger/Ledger.js"
import { SupplyInvariantViolated } from "../../src/ledger/tables/Supply.js"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import { Network, type Peer, type Received } from "../../src/network/Network.js"
import * as PeerAddress from "../../src/network/PeerAddress.js"
import type { Standing } from "../../src/network/Standing.js"
import { Volume } from "../../src/network/Volume.js"
import * as Engine from "../../src/node/engine/Engine.js"
import { exitCodeOf } from "../../src/node/lifecycle/Ending.js"
import { Supervisor } from "../../src/node/lifecycle/Supervisor.js"
import { Dag } from "../../src/node/reads/Dag.js"
import { Health } from "../../src/node/reads/Health.js"
import type { Configuration } from "../../src/node/start/Configuration.js"
import * as Home from "../../src/node/start/Home.js"
import * as Loading from "../../src/node/start/Loading.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { PublicKey, Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { Replica } from "../../src/replica/Replica.js"
import { Storage } from "../../src/storage/Storage.js"
import * as EventLoop from "../../src/turns/EventLoop.js"
import { Inbox } from "../../src/turns/Inbox.js"
import { sqlite } from "../storage/world.js"
import * as Rest from "../support/Rest.js"
import { given, withDirectory } from "./withDirectory.js"
import * as world from "./world.js"

/** A ledger that creates a sat with its nth commit. */
const forging = (ledger: Ledger, nth: number): Ledger =>
  new Proxy(ledger, {
    get: (target, name) => {
      if (name !== "execute") {
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === "function" ? value.bind(target) : value
      }
      return (input: Parameters<Ledger["execute"]>[0]): ReturnType<Ledger["execute"]> => {
        if (input.commit.index < nth) return target.execute(input)
        const expected = target.read.totals
        const found = { ...expected, liquid: Sats.addBounded(expected.liquid, Sats.make(1)) }
        return Either.left(new SupplyInvariantViolated({ found, expected, problem: "a sat too much" }))
      }
    },
  })

const engineWith = (faulty: (ledger: Ledger) => Ledger) =>
  Engine.layerLoading((genesis, self, tableKey) =>
    Effect.map(Loading.load(genesis, self, tableKey), ({ contents, opened }) => ({
      contents,
      opened: { ...opened, ledger: faulty(opened.ledger) },
    })),
  )

const forgingEngine = (nth: number) => engineWith((ledger) => forging(ledger, nth))

/** A ledger whose assertion fails while its nth commit is executed, or right after it. */
const asserting = (ledger: Ledger, nth: number, where: "execute" | "unfrozen"): Ledger =>
  new Proxy(ledger, {
    get: (target, name) => {
      const isDue = target.read.head.index >= (where === "execute" ? nth - 1 : nth)
      if (name === where && isDue) throw new RangeError("a planted fault")
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) : value
    },
  })

/** A peer connects, shows a signature of a future epoch, and answers that it knows of no closed epoch. */
const talkative: Layer.Layer<Network> = Layer.sync(Network, () => {
  const inbound = new Inbox<Received>()
  const checkpoint = Checkpoint.make({
    epoch: Natural.epoch(9),
    round: Natural.round(9),
    commitIndex: Natural.commitIndex(9),
    commitHash: Hash.ZERO,
    effectsDigest: Hash.ZERO,
    stateRoot: Hash.ZERO,
    totalSupply: Sats.ZERO,
    nextEpoch: null,
    previous: Hash.ZERO,
  })
  const validator = Address.fromPublicKey("00".repeat(32) as PublicKey)
  const signature = { validator, signature: "00".repeat(64) as Signature }
  const id = "a peer" as PeerId
  const say = (message: Message): void => {
    const bytes = MessageCodec.encode(message)
    inbound.push({ from: id, standing: "stranger", network: id, tag: message._tag, bytes, release: () => undefined })
  }
  say({ _tag: "CheckpointSignature", checkpoint, signature })
  const peer: Peer = {
    id,
    validator: null,
    address: "127.0.0.1:9",
    direction: "inbound",
    agent: "a test",
    latencyMs: null,
    connectedSince: Natural.timestamp(0),
  }
  return {
    listensAt: Option.none(),
    send: (_, message) =>
      Effect.sync(() => {
        if (message._tag === "AskClosing") say({ _tag: "Closing", signed: [], newest: null })
      }),
    broadcast: () => Effect.void,
    inbound,
    peers: Effect.succeed([peer]),
    figures: () => ({ freePlaces: 1, failures: 0, volume: new Volume() }),
    changes: Stream.make([peer]),
    misbehaved: () => Effect.void,
    setMembers: () => Effect.void,
  }
})

/** A peer of this standing says this once. */
const saying = (message: Message, standing: Standing): Layer.Layer<Network> =>
  Layer.map(talkative, (context) => {
    const network = Context.get(context, Network)
    const inbound = new Inbox<Received>()
    const bytes = MessageCodec.encode(message)
    inbound.push({
      from: "a peer" as PeerId,
      standing,
      network: "here",
      tag: message._tag,
      bytes,
      release: () => undefined,
    })
    return Context.make(Network, { ...network, inbound })
  })

const commits = (directory: string) =>
  sqlite(`${directory}/udg.db`, "select commit_index, hex(hash) from commits order by 1")

/** A clock that shows another time; its timers still take their real duration. */
const clockOf = (millis: () => number): Clock.Clock =>
  Object.assign(Clock.make(), { currentTimeMillis: Effect.sync(millis), unsafeCurrentTimeMillis: millis })

/** How a node with this engine ends; its health reports the fault first. */
const endingOf = (directory: string, engine: typeof Engine.layer) =>
  Effect.gen(function* () {
    const supervisor = yield* Supervisor
    const ending = yield* Effect.flip(supervisor.ended)
    const health = yield* (yield* Health).report
    expect(health.state.status).toBe("unhealthy")
    return ending
  }).pipe(Effect.provide(world.node(directory, {}, undefined, engine)))

const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, i) => i)

describe("a node with a fault", () => {
  const endsWith101 = (commit: number) =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const ending = yield* endingOf(directory, forgingEngine(commit))
      expect(ending._tag).toBe("SupplyViolation")
      expect(exitCodeOf(ending)).toBe(101)
      expect(ending.message).toMatch(/found liquid (\d+) .*, expected liquid (\d+) /)
      expect((yield* commits(directory)).map(([index]) => index)).toEqual(numbers(commit))
      // Nothing wrong was written: a sound node continues from there.
      yield* Effect.provide(world.untilRound(commit + 5), world.node(directory))
    }).pipe(Effect.provide(world.platform))

  const SUPPLY = "ends with 101 when the supply is wrong, with everything before it on the disk"
  it.scopedLive(SUPPLY, () => endsWith101(15))
  it.scopedLive(Rest.of("after more commits", SUPPLY), () => endsWith101(40))

  const endsWith102 = (where: "execute" | "unfrozen", commit: number) =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const engine = engineWith((ledger) => asserting(ledger, commit, where))
      const ending = yield* endingOf(directory, engine)
      expect(ending._tag).toBe("InternalFault")
      expect(exitCodeOf(ending)).toBe(102)
      expect(ending.message).toMatch(/^internal fault in commit \d+ \(epoch 1, leader round \d+, hash [0-9a-f]{64}\): /)
      expect(ending.message).toMatch(new RegExp(`commit ${commit} .*: RangeError: a planted fault; `))
      expect((yield* commits(directory)).map(([index]) => index)).toEqual(numbers(commit))
      // A sound build continues with the commit at which this one stopped.
      yield* Effect.provide(world.untilRound(commit + 5), world.node(directory))
    }).pipe(Effect.provide(world.platform))

  const ASSERTION = "ends with 102 when an assertion fails in %s, with nothing of that commit on the disk"
  const where = ["execute", "unfrozen"] as const
  it.scopedLive.each(where)(ASSERTION, (where) => endsWith102(where, 15))
  it.scopedLive.each(where)(Rest.of("after more commits", ASSERTION), (where) => endsWith102(where, 40))

  // It ended with 1, so a process manager restarted it into the same fault.
  const throwing = [
    { method: "start", doing: "starting" },
    { method: "tick", doing: "during a tick" },
    { method: "written", doing: "applying the completion of write \\d+" },
    { method: "receive", doing: "applying Closing from a peer" },
    { method: "heardOf", doing: "applying the epoch of a peer" },
    { method: "work", doing: "during background work" },
    { method: "connected", doing: "applying the connected peers" },
  ] as const
  const endsWhereItThrows = ({ method, doing }: (typeof throwing)[number]) =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const planted = vi.spyOn(Replica.prototype, method).mockImplementation(() => {
        throw new RangeError("a planted fault")
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => planted.mockRestore()))
      const ending = yield* Effect.flatMap(Supervisor, ({ ended }) => Effect.flip(ended)).pipe(
        Effect.provide(world.node(directory, {}, talkative)),
      )
      expect(exitCodeOf(ending)).toBe(102)
      expect(ending.message).toMatch(
        new RegExp(`^internal fault in consensus, ${doing}: RangeError: a planted fault; please report this line$`),
      )
    }).pipe(Effect.provide(world.platform))
  const THROWS = "ends with 102 and names the method when $method of the replica throws"
  it.scopedLive.each(throwing.slice(0, 2))(THROWS, endsWhereItThrows)
  it.scopedLive.each(throwing.slice(2))(Rest.of("more of the same", THROWS), endsWhereItThrows)

  withDirectory("ends with 102 and names the method when metHeader of the replica throws", function* (directory) {
    const { validatorKey } = yield* Effect.scoped(Effect.provide(Home.Home, world.files(directory)))
    const vertex = Vertex.sign(
      {
        base: Hash.ZERO,
        epoch: Natural.epoch(9),
        round: Natural.round(9),
        parents: [],
        timestamp: Natural.timestamp(0),
        coinbase: Sats.ZERO,
      },
      Vertex.emptyBody,
      Option.getOrThrow(validatorKey),
    )
    const planted = vi.spyOn(Replica.prototype, "metHeader").mockImplementation(() => {
      throw new RangeError("a planted fault")
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => planted.mockRestore()))
    const ending = yield* Effect.flatMap(Supervisor, ({ ended }) => Effect.flip(ended)).pipe(
      Effect.provide(world.node(directory, {}, saying({ _tag: "Vertices", vertices: [vertex] }, "member"))),
    )
    expect(exitCodeOf(ending)).toBe(102)
    expect(ending.message).toBe(
      "internal fault in consensus, applying a header from a peer: " +
        "RangeError: a planted fault; please report this line",
    )
  })

  withDirectory("ends with 102 when stored data makes the consensus throw", function* (directory) {
    yield* Effect.provide(world.untilRound(20), world.node(directory))
    const restoring = vi.spyOn(Epoch.prototype, "restore").mockImplementation(() => {
      throw new RangeError("a planted fault")
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => restoring.mockRestore()))
    const ending = yield* Effect.flip(Effect.provide(Effect.void, world.node(directory)))
    expect(exitCodeOf(ending)).toBe(102)
    expect(ending.message).toContain("internal fault in consensus, applying the stored state: RangeError")
  })

  // This holds also where the last commit had its own checkpoint, and where it closed an epoch and the next had not
  // begun. Once the next has begun, its opening names the checkpoint.
  const doesNotStart = ({ at, begun }: { readonly at: number; readonly begun: boolean }) =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      yield* world.found(
        directory,
        { epochRounds: 40, collectionDepthRounds: 10 },
        { checkpointIntervalRounds: 10, cooldownRounds: 40 },
      )
      yield* Effect.flatMap(Supervisor, ({ ended }) => Effect.flip(ended)).pipe(
        Effect.provide(world.node(directory, {}, undefined, forgingEngine(at + 1))),
      )
      if (!begun) {
        yield* sqlite(`${directory}/udg.db`, "delete from openings where epoch = 2")
        yield* sqlite(`${directory}/udg.db`, "delete from checkpoints where round = 40")
      }
      const keep = (stateRoot: Hash.Hash | null) =>
        Effect.gen(function* () {
          const { genesis } = yield* Home.Home
          const storage = yield* Storage
          const { contents, opened } = yield* Loading.load(genesis, null, { low: 1, high: 1 })
          const { head, totals } = opened.ledger.read
          expect(head.index).toBe(at)
          const checkpoint = Checkpoint.make({
            epoch: contents.current.opening.record.epoch,
            round: head.leaderRound,
            commitIndex: head.index,
            commitHash: head.hash,
            effectsDigest: opened.ledger.effectsDigest,
            stateRoot: stateRoot ?? opened.trie.hash,
            totalSupply: totals.total,
            nextEpoch: null,
            previous: Hash.ZERO,
          })
          yield* storage.checkpoints.putBuilt(checkpoint)
          return yield* Effect.either(Loading.load(genesis, null, { low: 1, high: 1 }))
        }).pipe(Effect.provide(world.files(directory)))

      expect(Either.isRight(yield* keep(null))).toBe(true)
      const wrong = Hash.of("udg/key", Uint8Array.of(1))
      const refused = yield* Effect.flatMap(keep(wrong), Effect.flip)
      expect(refused._tag).toBe("StateDamaged")
      expect(exitCodeOf(refused)).toBe(1)
      expect(refused.message).toContain(`its checkpoint has root ${wrong}`)
    }).pipe(Effect.provide(world.platform))

  const FORGED = "does not start from a state whose root differs from its checkpoint's, stopped at %o"
  it.scopedLive.each([{ at: 10, begun: true }])(FORGED, doesNotStart, 240_000)
  it.scopedLive.each([
    { at: 5, begun: true },
    { at: 40, begun: false },
  ])(Rest.of("more of the same", FORGED), doesNotStart, 240_000)

  /** Up to a round behind the one of the copy that it is set back to. */
  const decidesAgain = (lost: number, last: number) =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const signed = new Map<string, string>()
      const network = world.overheard(({ header }) => {
        const slot = `${header.epoch}/${header.round}`
        expect(signed.get(slot) ?? header.hash).toBe(header.hash)
        signed.set(slot, header.hash)
      })
      yield* Effect.provide(world.untilRound(30), world.node(directory, {}, network))
      copyFileSync(`${directory}/udg.db`, `${directory}/older.db`)
      yield* Effect.provide(world.untilRound(lost), world.node(directory, {}, network))
      const before = yield* commits(directory)
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${directory}/udg.db${suffix}`, { force: true })
      copyFileSync(`${directory}/older.db`, `${directory}/udg.db`)
      yield* Effect.provide(world.untilRound(last), world.node(directory, {}, network))
      const after = yield* commits(directory)
      expect(after.slice(0, before.length)).toEqual(before)
      expect(signed.size).toBeGreaterThanOrEqual(last)
    }).pipe(Effect.provide(world.platform))

  const POWER_CUT = "decides again from its own vertices what a power cut took from the database"
  it.scopedLive(POWER_CUT, () => decidesAgain(45, 50))
  it.scopedLive(Rest.of("more rounds", POWER_CUT), () => decidesAgain(120, 140))

  /** A one-validator network in its third epoch, without its database. */
  const withoutLedger = given(
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      yield* world.found(directory, { epochRounds: 40, collectionDepthRounds: 10 }, { cooldownRounds: 40 })
      yield* Effect.provide(world.untilRound(100), world.node(directory))
      const before = yield* commits(directory)
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${directory}/udg.db${suffix}`, { force: true })
      return { directory, before }
    }),
  )

  withoutLedger(
    Rest.of("whole epochs", "decides whole epochs again from its own vertices, as far back as they are kept"),
    function* ({ directory, before }) {
      yield* Effect.provide(world.untilRound(120), world.node(directory))
      const after = yield* commits(directory)
      expect(after.slice(0, before.length)).toEqual(before)
    },
  )

  // Its validator used to wait silently for vertices that only it could make.
  withoutLedger(
    Rest.of("whole epochs", "reports that its database is older than its signed vertices if it has no peers to ask"),
    function* ({ directory }) {
      yield* sqlite(`${directory}/signed.db`, "delete from own_vertices where epoch < 2")
      const open = (peers: Configuration["Type"]["peers"] = []) => world.node(directory, { peers })
      const refused = yield* Effect.flip(Effect.provide(Effect.void, open()))
      expect(refused._tag).toBe("StateBehind")
      expect(exitCodeOf(refused)).toBe(1)
      expect(refused.message).toMatch(/^udg\.db ends in epoch 1, but .* has signed in epoch 3; /)
      // A node that has followed can restore all of it.
      yield* Effect.provide(Effect.void, open(Option.toArray(PeerAddress.parse("127.0.0.1:9"))))
    },
  )

  const letsOthersHaveTheThread = (rounds: number) =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      let at = Date.now()
      const late = clockOf(() => (at += 50))
      let vertices = 0
      let most = 0
      const network = world.overheard(() => {
        most = Math.max(most, ++vertices)
      })
      const turns = setInterval(() => {
        vertices = 0
      }, 0)
      yield* Effect.gen(function* () {
        const dag = yield* Dag
        while ((yield* dag.position).finalizedRound < rounds) yield* EventLoop.turn
      }).pipe(
        Effect.provide(world.node(directory, {}, network)),
        Effect.withClock(late),
        Effect.ensuring(Effect.sync(() => clearInterval(turns))),
      )
      expect(most).toBeGreaterThan(0)
      // A vertex takes several turns; a timer of one millisecond runs in between.
      expect(most).toBeLessThan(20)
    }).pipe(Effect.provide(world.platform))

  const LATE = "yields the thread to others however late its rounds are"
  it.scopedLive(LATE, () => letsOthersHaveTheThread(25))
  it.scopedLive(Rest.of("more rounds", LATE), () => letsOthersHaveTheThread(100))

  withDirectory(
    Rest.of("it waits", "continues its rounds when the clock is set back or ahead by an hour"),
    function* (directory) {
      const HOUR = 3_600_000
      let shift = 0
      const set = clockOf(() => Date.now() + shift)
      yield* Effect.gen(function* () {
        yield* world.untilRound(5)
        shift = -HOUR
        yield* world.untilRound(15)
        shift = HOUR
        yield* world.untilRound(25)
        shift = 0
        yield* world.untilRound(35)
      }).pipe(Effect.provide(world.node(directory)), Effect.withClock(set))
      // Also when that happens between two starts.
      shift = -HOUR
      yield* world.untilRound(45).pipe(Effect.provide(world.node(directory)), Effect.withClock(set))
    },
  )

  // A change between the two reads of one step used to make the node wait for an hour.
  withDirectory("continues its rounds when the clock is set back at any point of a step", function* (directory) {
    const HOUR = 3_600_000
    // Odd, so that it meets every read in turn.
    const LOOKS_BETWEEN = 31
    let looks = 0
    const set = clockOf(() => Date.now() - HOUR * Math.floor(++looks / LOOKS_BETWEEN))
    yield* world.untilRound(40).pipe(Effect.provide(world.node(directory)), Effect.withClock(set))
  })

  withDirectory("follows without a key with --no-validate", function* (directory) {
    yield* Effect.provide(world.untilRound(5), world.node(directory))
    const round = yield* Effect.gen(function* () {
      const { validatorKey } = yield* Home.Home
      expect(validatorKey).toEqual(Option.none())
      const dag = yield* Dag
      const before = (yield* dag.position).round
      yield* Effect.sleep("100 millis")
      return (yield* dag.position).round - before
    }).pipe(Effect.provide(world.node(directory, { validate: false })))
    expect(round).toBe(0)
  })
})
