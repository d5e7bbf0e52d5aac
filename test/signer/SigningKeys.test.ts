import { it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { describe, expect } from "vitest"
import * as Keys from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as Judge from "../../src/signer/Judge.js"
import * as Signer from "../../src/signer/Signer.js"
import * as world from "../storage/world.js"
import * as Statements from "./Statements.js"

const node = "0".repeat(64) as PeerId
const key = Statements.validator
const signer = Keys.signerOf(key)
const genesis = world.genesis()

const opened = <A, E, R>(path: string, use: (keys: Signer.Opened["keys"]) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(Signer.open(path, genesis), ({ keys }) => use(keys)))

const ask = (keys: Signer.Opened["keys"], bytes: Uint8Array) => keys.sign({ node, signer, bytes })

const firstRound = { epoch: Natural.epoch(1), round: Natural.round(0) }

const TAKEN = Either.left("this place or a later one is taken")

describe("a signer's memory", () => {
  it.scopedLive("signs nothing in a new directory before the operator has said from where", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          expect(Either.isLeft(yield* ask(keys, Statements.vertex()))).toBe(true)
          expect(yield* keys.vouch(key.publicKey, firstRound)).toBe(true)
          const bytes = Statements.vertex()
          const answer = yield* ask(keys, bytes)
          if (Either.isLeft(answer)) return expect.unreachable()
          const check = { message: bytes, publicKey: key.publicKey, signature: answer.right }
          expect(Verification.isStrictlyValid(check)).toBe(true)
        }),
      )
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("holds across a restart, for vertices, checkpoints and the operator's word", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      const first = yield* opened(path, (keys) =>
        Effect.gen(function* () {
          yield* keys.vouch(key.publicKey, firstRound)
          yield* ask(keys, Statements.checkpoint({ round: 3 }))
          return yield* ask(keys, Statements.vertex({ round: 5 }))
        }),
      )
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          expect(yield* ask(keys, Statements.vertex({ round: 5 }))).toEqual(first)
          expect(yield* ask(keys, Statements.vertex({ round: 5, variant: 2 }))).toEqual(TAKEN)
          expect(yield* ask(keys, Statements.vertex({ round: 4 }))).toEqual(TAKEN)
          expect(yield* ask(keys, Statements.checkpoint({ round: 3, variant: 2 }))).toEqual(TAKEN)
          expect(Either.isRight(yield* ask(keys, Statements.checkpoint({ round: 3 })))).toBe(true)
          expect(yield* keys.vouch(key.publicKey, firstRound)).toBe(false)
          expect(yield* keys.vouch(key.publicKey, { ...firstRound, epoch: Natural.epoch(2) })).toBe(true)
        }),
      )
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          expect(yield* ask(keys, Statements.vertex({ round: 6 }))).toEqual(TAKEN)
          expect(Either.isRight(yield* ask(keys, Statements.vertex({ epoch: 2, round: 1 })))).toBe(true)
        }),
      )
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("is in the file, synced, before a signature is handed out", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          yield* keys.vouch(key.publicKey, firstRound)
          for (const round of [1, 2, 3]) {
            expect(Either.isRight(yield* ask(keys, Statements.vertex({ round })))).toBe(true)
            const rows = yield* world.sqlite(`${path}/signer.db`, "select taken_epoch, taken_round from signing_keys")
            expect(rows).toEqual([[1, round]])
          }
        }),
      )
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("is each key's own", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      const other = Statements.keyOf(2)
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          yield* keys.vouch(key.publicKey, firstRound)
          yield* keys.vouch(other.publicKey, firstRound)
          yield* ask(keys, Statements.vertex({ round: 9 }))
          const bytes = Statements.vertex({ round: 2, key: other })
          expect(Either.isRight(yield* keys.sign({ node, signer: other, bytes }))).toBe(true)
        }),
      )
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("drops old checkpoints from the file as the judge does", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      const rounds = Array.from({ length: Judge.MAX_CHECKPOINTS + 3 }, (_, n) => n + 1)
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          yield* keys.vouch(key.publicKey, firstRound)
          for (const round of rounds) yield* ask(keys, Statements.checkpoint({ round }))
        }),
      )
      const count = yield* world.sqlite(`${path}/signer.db`, "select count(*), min(round) from signed_checkpoints")
      expect(count).toEqual([[Judge.MAX_CHECKPOINTS, 4]])
      yield* opened(path, (keys) =>
        Effect.map(ask(keys, Statements.checkpoint({ round: 2 })), (answer) => expect(answer).toEqual(TAKEN)),
      )
    }).pipe(Effect.provide(world.platform)),
  )
})
