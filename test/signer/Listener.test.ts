import { connect } from "node:net"
import { it } from "@effect/vitest"
import { Effect, Either, Layer, Logger, LogLevel, type Scope } from "effect"
import { describe, expect } from "vitest"
import { nodeClock } from "../../src/network/tls/NodeClock.js"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { Connection, type State } from "../../src/signer/Connection.js"
import * as Signer from "../../src/signer/Signer.js"
import * as world from "../storage/world.js"
import * as Statements from "./Statements.js"

const genesis = world.genesis()
const { keyOf, validator } = Statements
const [first, second, stranger] = [keyOf(11), keyOf(12), keyOf(13)]

const serving = (path: string, port = 0) =>
  Effect.gen(function* () {
    const opened = yield* Signer.open(path, genesis)
    yield* opened.keys.vouch(validator.publicKey, { epoch: Natural.epoch(1), round: Natural.round(0) })
    const signer = Keys.signerOf(validator)
    const served = [first, second].map((key) => ({ node: NodeProof.idOf(key), signer }))
    return yield* Signer.serve({ ...opened, genesis, served, listen: { host: "127.0.0.1", port } })
  })

interface Line {
  readonly connection: Connection
  readonly states: ReadonlyArray<State>
  /** The next state that fits. */
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

const TAKEN = Either.left("this place or a later one is taken")

const signed = ({ connection }: Line, bytes: Uint8Array) => Effect.promise(() => connection.sign(bytes))

describe("a signer's port", () => {
  it.scopedLive("signs for both nodes on its list, and one slot for only one of them", () =>
    Effect.gen(function* () {
      const signer = yield* serving(yield* world.temporaryDirectory)
      const lines = [yield* dialled(signer, first), yield* dialled(signer, second)] as const
      for (const line of lines) {
        expect(yield* line.next(isReady)).toEqual({ _tag: "Ready", publicKey: validator.publicKey })
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

  it.scopedLive("serves nobody who is not on the list, is on another network, or proves nothing", () =>
    Effect.gen(function* () {
      const signer = yield* serving(yield* world.temporaryDirectory)
      const unknown = yield* dialled(signer, stranger)
      yield* unknown.next(isAway(/does not serve the node [0-9a-f]{64}: it is not on the list/))
      const elsewhere = yield* dialled(signer, first, Statements.hashOf(5))
      yield* elsewhere.next(isAway(/it is on the network with genesis 0{63}5/))
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

  it.scopedLive("is not taken for another signer that answers there", () =>
    Effect.gen(function* () {
      const signer = yield* serving(yield* world.temporaryDirectory)
      const line = yield* dialled({ port: signer.port, id: NodeProof.idOf(stranger) }, first)
      yield* line.next(isAway(/a signer with another key answers/))
    }).pipe(Effect.provide(quiet)),
  )

  it.scopedLive("answers after a restart what was asked before it, and remembers", () =>
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
        line.connection.sign(Statements.vertex({ round, variant: 1 + variant })),
      )
      yield* serving(path, port)
      expect(yield* Effect.promise(async () => again)).toEqual(answer)
      expect(yield* Effect.promise(async () => other)).toEqual(TAKEN)
      expect(line.connection.waiting).toBe(0)
    }).pipe(Effect.provide(quiet)),
  )
})
