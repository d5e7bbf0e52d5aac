import { chmodSync, cpSync, renameSync, rmSync } from "node:fs"
import { it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { describe, expect } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as HeldKey from "../../src/signer/HeldKey.js"
import * as Judge from "../../src/signer/Judge.js"
import * as Signer from "../../src/signer/Signer.js"
import type * as Statement from "../../src/signer/Statement.js"
import * as world from "../storage/world.js"
import * as Statements from "./Statements.js"

const node = "0".repeat(64) as PeerId
const key = Statements.validator
const signer = HeldKey.inMemory(key)
const genesis = world.genesis()

const opened = <A, E, R>(path: string, use: (keys: Signer.Opened["keys"]) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(Signer.open(path, genesis), ({ keys }) => use(keys)))

const ask = (keys: Signer.Opened["keys"], bytes: Uint8Array) => keys.sign({ node, signer, others: [], bytes })

const firstRound = { epoch: Natural.epoch(1), round: Natural.round(0) }

const round = (n: number): Statement.Place => ({ ...firstRound, round: Natural.round(n) })

const COPY = Either.left(
  "the signer's directory is a copy, which lacks what was signed later: state a round with udg signer sign-from",
)

/** Opens a directory in which the key has signed round 5, after the operator's word for round 1. */
const signedInto = (path: string) =>
  opened(path, (keys) =>
    Effect.gen(function* () {
      yield* keys.vouch(key.publicKey, firstRound)
      expect(Either.isRight(yield* ask(keys, Statements.vertex({ round: 5 })))).toBe(true)
    }),
  )

const expectCopy = (path: string) =>
  opened(path, (keys) =>
    Effect.gen(function* () {
      expect(yield* ask(keys, Statements.vertex({ round: 6 }))).toEqual(COPY)
      expect(yield* ask(keys, Statements.checkpoint({ round: 6 }))).toEqual(COPY)
    }),
  )

const TAKEN = Either.left("the key has signed this round or a later one")

describe("the signer's stored keys", () => {
  it.scopedLive("sign nothing in a new directory before the operator names a round", () =>
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

  it.scopedLive("remember vertices, checkpoints and the operator's round across a restart", () =>
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

  it.scopedLive("are synced to the file before a signature is returned", () =>
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

  it.scopedLive("are independent of each other", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      const other = Statements.keyOf(2)
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          yield* keys.vouch(key.publicKey, firstRound)
          yield* keys.vouch(other.publicKey, firstRound)
          yield* ask(keys, Statements.vertex({ round: 9 }))
          const bytes = Statements.vertex({ round: 2, key: other })
          expect(Either.isRight(yield* keys.sign({ node, signer: HeldKey.inMemory(other), others: [], bytes }))).toBe(
            true,
          )
        }),
      )
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("drop the same old checkpoints from the file as from memory", () =>
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

  it.scopedLive("take no place that another key of the validator has taken, and remember it across a restart", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      const next = HeldKey.inMemory(Statements.keyOf(2))
      const withOld = (keys: Signer.Opened["keys"], round: number, epoch = 1) =>
        keys.sign({ node, signer, others: [next.publicKey], bytes: Statements.vertex({ epoch, round }) })
      const withNext = (keys: Signer.Opened["keys"], round: number, epoch = 1) => {
        const bytes = Statements.vertex({ epoch, round, key: Statements.keyOf(2) })
        return keys.sign({ node, signer: next, others: [key.publicKey], bytes })
      }
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          yield* keys.vouch(key.publicKey, firstRound)
          yield* keys.vouch(next.publicKey, firstRound)
          const last = yield* withOld(keys, 7)
          expect(Either.isRight(last)).toBe(true)
          expect(yield* withNext(keys, 7)).toEqual(TAKEN)
          expect(Either.isRight(yield* withNext(keys, 1, 2))).toBe(true)
          // The same again is no second vertex.
          expect(yield* withOld(keys, 7)).toEqual(last)
        }),
      )
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          expect(yield* withOld(keys, 8)).toEqual(TAKEN)
          expect(yield* withOld(keys, 1, 2)).toEqual(TAKEN)
        }),
      )
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("take a node's word for where they have signed, and remember it across a restart", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          yield* keys.told(key.publicKey, round(3))
          expect(yield* keys.memoryOf(key.publicKey)).toBe(null)
          yield* keys.vouch(key.publicKey, firstRound)
          yield* keys.told(key.publicKey, round(7))
          yield* keys.told(key.publicKey, round(6))
        }),
      )
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          expect(yield* ask(keys, Statements.vertex({ round: 7 }))).toEqual(TAKEN)
          expect(Either.isRight(yield* ask(keys, Statements.vertex({ round: 8 })))).toBe(true)
        }),
      )
    }).pipe(Effect.provide(world.platform)),
  )
})

describe("the signer's directory", () => {
  it.scopedLive("signs nothing as a copy at another or the same path, until the operator names a round", () =>
    Effect.gen(function* () {
      const [path, backup] = [`${yield* world.temporaryDirectory}/signer`, yield* world.temporaryDirectory]
      yield* signedInto(path)
      cpSync(path, backup, { recursive: true, preserveTimestamps: true })
      yield* opened(path, (keys) => ask(keys, Statements.vertex({ round: 8 })))
      yield* expectCopy(backup)

      rmSync(path, { recursive: true })
      cpSync(backup, path, { recursive: true, preserveTimestamps: true })
      yield* expectCopy(path)
      // Also after a restart.
      yield* expectCopy(path)
      yield* opened(path, (keys) =>
        Effect.gen(function* () {
          expect(yield* keys.vouch(key.publicKey, round(4))).toBe(false)
          expect(yield* keys.vouch(key.publicKey, round(8))).toBe(true)
          expect(yield* ask(keys, Statements.vertex({ round: 8 }))).toEqual(TAKEN)
        }),
      )
      yield* opened(path, (keys) =>
        Effect.map(ask(keys, Statements.vertex({ round: 9 })), (answer) => expect(Either.isRight(answer)).toBe(true)),
      )
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("goes on after a change of its path or modes, and after its first start with a mark", () =>
    Effect.gen(function* () {
      const root = yield* world.temporaryDirectory
      yield* signedInto(`${root}/before`)
      renameSync(`${root}/before`, `${root}/after`)
      chmodSync(`${root}/after/signer.db`, 0o640)
      const signs = (at: number) =>
        opened(`${root}/after`, (keys) =>
          Effect.map(ask(keys, Statements.vertex({ round: at })), (answer) =>
            expect(Either.isRight(answer)).toBe(true),
          ),
        )
      yield* signs(6)
      // As a file system that told neither, or a signer without marks, has left it.
      yield* world.sqlite(`${root}/after/signer.db`, "update file_mark set inode = null, born = null")
      yield* signs(7)
      yield* world.sqlite(`${root}/after/signer.db`, "delete from file_mark")
      yield* signs(8)
      cpSync(`${root}/after`, `${root}/copy`, { recursive: true })
      yield* expectCopy(`${root}/copy`)
    }).pipe(Effect.provide(world.platform)),
  )
})
