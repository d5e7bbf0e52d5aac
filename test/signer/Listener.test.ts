import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { it } from "@effect/vitest"
import { Effect, Either, Layer, Logger, LogLevel, Option, Scope } from "effect"
import { describe, expect } from "vitest"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as Logging from "../../src/node/log/Logging.js"
import * as RemoteSigner from "../../src/node/start/RemoteSigner.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type * as Keys from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { Connection, type State } from "../../src/signer/Connection.js"
import * as HeldKey from "../../src/signer/HeldKey.js"
import * as Signer from "../../src/signer/Signer.js"
import * as world from "../storage/world.js"
import * as Statements from "./Statements.js"

const genesis = world.genesis()
const { keyOf, validator } = Statements
const [first, second, stranger] = [keyOf(11), keyOf(12), keyOf(13)]

const serving = (path: string, port = 0, held: ReadonlyArray<Keys.SecretKey> = [validator]) =>
  Effect.gen(function* () {
    const opened = yield* Signer.open(path, genesis)
    yield* opened.keys.vouch(validator.publicKey, { epoch: Natural.epoch(1), round: Natural.round(0) })
    const nodes = [first, second].map(NodeProof.idOf)
    const served = held.flatMap((key) => nodes.map((node) => ({ node, signer: HeldKey.inMemory(key) })))
    return yield* Signer.serve({ ...opened, genesis, served, listen: { host: "127.0.0.1", port } })
  })

interface Line {
  readonly connection: Connection
  readonly states: ReadonlyArray<State>
  /** Waits for the next state that satisfies the predicate. */
  readonly next: (fits: (state: State) => boolean) => Effect.Effect<State>
}

const dialled = (
  { port, id }: Pick<Signer.Serving, "port" | "id">,
  nodeKey: Keys.SecretKey,
  genesisHash = Genesis.hash(genesis),
): Effect.Effect<Line, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const states: Array<State> = []
        const watching = new Set<(state: State) => void>()
        const connection = new Connection({
          nodeKey,
          genesisHash,
          signer: { host: "127.0.0.1", port, key: id },
          clock: nodeClock,
          changed: (state) => {
            states.push(state)
            for (const watch of watching) watch(state)
          },
        })
        return { connection, states, watching }
      }),
      ({ connection }) => Effect.sync(() => connection.stop()),
    ),
    ({ connection, states, watching }) => ({
      connection,
      states,
      next: (fits) =>
        Effect.async((resume) => {
          const found = states.find(fits)
          if (found !== undefined) return resume(Effect.succeed(found))
          watching.add((state) => fits(state) && resume(Effect.succeed(state)))
        }),
    }),
  )

const quiet = Layer.merge(world.platform, Logger.minimumLogLevel(LogLevel.None))

const isReady = ({ _tag }: State): boolean => _tag === "Ready"
const isAway = (reason: RegExp) => (state: State) => state._tag === "Away" && reason.test(state.reason)

const TAKEN = Either.left("the key has signed this round or a later one")

const signed = ({ connection }: Line, bytes: Uint8Array) =>
  Effect.promise(() => connection.sign(validator.publicKey, bytes))

describe("the signer's listener", () => {
  it.scopedLive("serves both nodes on its list, and signs each slot for only one of them", () =>
    Effect.gen(function* () {
      const signer = yield* serving(yield* world.temporaryDirectory)
      const lines = [yield* dialled(signer, first), yield* dialled(signer, second)] as const
      for (const line of lines) {
        expect(yield* line.next(isReady)).toEqual({ _tag: "Ready", publicKeys: [validator.publicKey] })
      }
      const asked = yield* Effect.all(
        [1, 2, 3, 4].flatMap((round) =>
          lines.map((line, variant) => signed(line, Statements.vertex({ round, variant }))),
        ),
        { concurrency: "unbounded" },
      )
      for (const round of [0, 1, 2, 3]) {
        expect(asked.slice(2 * round, 2 * round + 2).filter(Either.isRight).length).toBeLessThanOrEqual(1)
      }
      expect(asked.filter(Either.isRight).length).toBeGreaterThan(0)
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("rejects nodes off its list, nodes of another network and connections without a proof", () =>
    Effect.gen(function* () {
      const signer = yield* serving(yield* world.temporaryDirectory)
      const unknown = yield* dialled(signer, stranger)
      yield* unknown.next(isAway(/does not serve the node [0-9a-f]{64}: it is not on the list/))
      const elsewhere = yield* dialled(signer, first, Statements.hashOf(5))
      yield* elsewhere.next(isAway(/it is on the network with genesis 0{63}5/))
      expect(elsewhere.connection.refusal?.reason).toMatch(/^it is on the network with genesis 0{63}5/)
      const raw = connect({ host: "127.0.0.1", port: signer.port })
      raw.resume()
      raw.write(Statements.vertex())
      yield* Effect.async<void>((resume) => {
        raw.on("error", () => {})
        raw.once("close", () => resume(Effect.void))
      })
      const served = yield* dialled(signer, first)
      yield* served.next(isReady)
      expect(unknown.states.some(isReady)).toBe(false)
      expect(elsewhere.states.some(isReady)).toBe(false)
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("ends once its directory is gone", () =>
    Effect.gen(function* () {
      const path = `${yield* world.temporaryDirectory}/signer`
      const { failed } = yield* serving(path)
      rmSync(path, { recursive: true })
      expect((yield* Effect.flip(failed)).message).toBe(
        `${path}/udg.lock is gone: the signer's directory was deleted, replaced or unmounted while it ran; put it back, or ` +
          "follow docs/operations/signer.md#the-signers-directory",
      )
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("goes on while its key file is replaced, as by udg keys encrypt", () =>
    Effect.gen(function* () {
      const path = `${yield* world.temporaryDirectory}/signer`
      const { failed } = yield* serving(path)
      copyFileSync(`${path}/signer.key`, `${path}/signer.key.new`)
      renameSync(`${path}/signer.key.new`, `${path}/signer.key`)
      expect(Option.isNone(yield* Effect.timeoutOption(Effect.flip(failed), "3 seconds"))).toBe(true)
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("logs a refused node once, although it tries four times a second", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const options = { directives: "", format: "json", colours: false } as const
      const signer = yield* Effect.provide(
        serving(yield* world.temporaryDirectory),
        Logging.layer({ ...options, write: (line) => lines.push(line) }),
      )
      const elsewhere = yield* dialled(signer, first, Statements.hashOf(5))
      while (elsewhere.states.length < 3) yield* Effect.sleep("50 millis")
      expect(lines).toEqual([expect.stringMatching(/"a node is not served".*it is on the network/)])
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("logs few of the strangers that come with a new key each", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const options = { directives: "", format: "json", colours: false } as const
      const signer = yield* Effect.provide(
        serving(yield* world.temporaryDirectory),
        Logging.layer({ ...options, write: (line) => lines.push(line) }),
      )
      yield* Effect.forEach(
        Array.from({ length: 60 }, (_, n) => keyOf(100 + n)),
        (key) =>
          Effect.scoped(Effect.flatMap(dialled(signer, key), ({ next }) => next(isAway(/it is not on the list/)))),
        { concurrency: 8 },
      )
      expect(lines.length).toBeGreaterThan(16)
      expect(lines.length).toBeLessThan(50)
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("is rejected by a node that expects another signer key", () =>
    Effect.gen(function* () {
      const signer = yield* serving(yield* world.temporaryDirectory)
      const line = yield* dialled({ port: signer.port, id: NodeProof.idOf(stranger) }, first)
      yield* line.next(isAway(/a signer with another key answers/))
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("hears where a node knows its key to have signed, at once and after each reconnection", () =>
    Effect.gen(function* () {
      const [before, snapshot] = [yield* world.temporaryDirectory, yield* world.temporaryDirectory]
      const { publicKey } = validator
      const placeAt = (round: number) => ({ epoch: Natural.epoch(1), round: Natural.round(round) })
      const { port, line } = yield* Effect.scoped(
        Effect.gen(function* () {
          const signer = yield* serving(before)
          const line = yield* dialled(signer, first).pipe(Effect.provideService(Scope.Scope, yield* Scope.make()))
          yield* line.next(isReady)
          line.connection.tell(publicKey, placeAt(5))
          expect(yield* signed(line, Statements.vertex({ round: 5 }))).toEqual(TAKEN)
          expect(line.connection.refusal?.reason).toBe("the key has signed this round or a later one")
          expect(Either.isRight(yield* signed(line, Statements.vertex({ round: 6 })))).toBe(true)
          expect(line.connection.refusal).toBeNull()
          line.connection.tell(publicKey, placeAt(4))
          return { ...signer, line }
        }),
      )
      // The signer's identity with a disk from before its first signature.
      copyFileSync(`${before}/signer.key`, `${snapshot}/signer.key`)
      yield* serving(snapshot, port)
      expect(yield* signed(line, Statements.vertex({ round: 6, variant: 2 }))).toEqual(TAKEN)
      expect(Either.isRight(yield* signed(line, Statements.vertex({ round: 7 })))).toBe(true)
      line.connection.stop()
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("answers pending requests after a restart, and remembers what it signed", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      const { port, id, answer } = yield* Effect.scoped(
        Effect.gen(function* () {
          const signer = yield* serving(path)
          const line = yield* dialled(signer, first)
          yield* line.next(isReady)
          return { ...signer, answer: yield* signed(line, Statements.vertex({ round: 7 })) }
        }),
      )
      const line = yield* dialled({ port, id }, first)
      yield* line.next(isAway(/ECONNREFUSED/))
      const [again, other] = [7, 7].map((round, variant) =>
        line.connection.sign(validator.publicKey, Statements.vertex({ round, variant: 1 + variant })),
      )
      yield* serving(path, port)
      expect(yield* Effect.promise(async () => again)).toEqual(answer)
      expect(yield* Effect.promise(async () => other)).toEqual(TAKEN)
      expect(line.connection.waiting).toBe(0)
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("lets a node choose the key in force, even after one that is not announced yet", () =>
    Effect.gen(function* () {
      const unannounced = keyOf(14)
      const { port, id } = yield* serving(yield* world.temporaryDirectory, 0, [unannounced, validator])
      const seats = (held: Keys.PublicKey) =>
        Effect.succeed(held === validator.publicKey ? Option.some(Address.fromPublicKey(held)) : Option.none())
      const target = { host: "127.0.0.1", port, key: id }
      const file = join(yield* world.temporaryDirectory, "signer-keys.json")
      const { publicKey } = yield* RemoteSigner.connect(target, first, Genesis.hash(genesis), seats, file)
      expect(publicKey).toBe(validator.publicKey)
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("that answers late restarts a node only if it signs with another key, and is remembered", () =>
    Effect.gen(function* () {
      const [path, beside] = [yield* world.temporaryDirectory, yield* world.temporaryDirectory]
      const other = keyOf(14)
      const { port, id } = yield* Effect.scoped(serving(path))
      const files = [join(beside, "same.json"), join(beside, "changed.json")] as const
      const met = (node: Keys.SecretKey, key: Keys.SecretKey, file: string) => {
        writeFileSync(file, JSON.stringify({ signer: id, public_keys: [key.publicKey] }))
        const target = { host: "127.0.0.1", port, key: id }
        return RemoteSigner.connect(target, node, Genesis.hash(genesis), () => Effect.succeedNone, file)
      }
      const [same, changed] = [yield* met(first, validator, files[0]), yield* met(second, other, files[1])]
      expect([same, changed].map(({ publicKey }) => publicKey)).toEqual([validator.publicKey, other.publicKey])
      yield* serving(path, port, [validator])
      while (same.absence() !== null || changed.absence() !== null) yield* Effect.sleep("20 millis")
      expect(yield* same.toRestartWith).toEqual(Option.none())
      expect(yield* changed.toRestartWith).toEqual(Option.some(validator.publicKey))
      const kept = (): unknown => JSON.parse(readFileSync(files[1], "utf8")).public_keys[0]
      while (kept() !== validator.publicKey) yield* Effect.sleep("20 millis")
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("is remembered by a node that could not write when it answered", () =>
    Effect.gen(function* () {
      const { port, id } = yield* serving(yield* world.temporaryDirectory)
      const folder = join(yield* world.temporaryDirectory, "missing")
      const file = join(folder, "signer-keys.json")
      const target = { host: "127.0.0.1", port, key: id }
      yield* RemoteSigner.connect(target, first, Genesis.hash(genesis), () => Effect.succeedNone, file)
      // Long enough for the first try, which fails.
      yield* Effect.sleep("1 second")
      mkdirSync(folder)
      while (!existsSync(file)) yield* Effect.sleep("100 millis")
    }).pipe(Effect.provide(quiet)),
  )
})
