import { it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { afterAll, describe, expect } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type * as Storage from "../../src/storage/Storage.js"
import * as Rest from "../support/Rest.js"
import * as Process from "./Process.js"
import { ACCOUNTS, loadOf, PROPOSALS } from "./processes/load.js"
import * as world from "./world.js"

const SEED = 20_260_101
const KILLS = 5

/** Every part of the storage is that of one commit; says which. */
const wholeCommit = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    const index = Option.match(yield* storage.commits.last, { onNone: () => 0, onSome: (commit) => commit.index })
    const seen = { accounts: 0, proposals: 0 }
    yield* storage.accounts.load((page) => {
      seen.accounts += page.length
      for (const { balance, nonce } of page) expect([balance, nonce]).toEqual([index, index])
    })
    const value = Binary.encode((writer) => writer.u64(index))
    yield* storage.records.load((page) => {
      seen.proposals += page.length
      for (const record of page) expect(record.value).toEqual(value)
    })
    expect(seen).toEqual(index === 0 ? { accounts: 0, proposals: 0 } : { accounts: ACCOUNTS, proposals: PROPOSALS })

    for (const [at, isWritten] of [
      [index, index > 0],
      [index + 1, false],
    ] as const) {
      const { vertices, transactions } = loadOf(at)
      const ordered = yield* storage.vertices.ofCommit(Natural.commitIndex(at))
      expect(ordered.map(({ hash }) => hash)).toEqual(isWritten ? vertices.map(({ header }) => header.hash) : [])
      for (const transaction of transactions) {
        const found = yield* storage.transactions.byId(transaction.id)
        expect(Option.isSome(found)).toBe(isWritten)
      }
    }
    // What was pending is either settled by a commit or still there.
    const pending = yield* storage.pending.all
    const next = new Set(loadOf(index + 1).transactions.map(({ id }) => id))
    expect([0, next.size]).toContain(pending.length)
    expect(pending.every(({ id }) => next.has(id))).toBe(true)
    return index
  })

describe(Rest.of("processes that are killed", "a process killed while it writes"), () => {
  afterAll(Process.removeBundles)

  it.scopedLive(`leaves whole commits, and every one it reported (seed ${SEED})`, () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      let random = SEED
      let written = 0
      for (let kill = 0; kill < KILLS; kill++) {
        const child = yield* Process.start("append", path, String(written + 1))
        let reported = Number(yield* child.line)
        random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0
        // Somewhere in the middle of writing another few commits.
        const collect = Effect.forever(
          Effect.map(child.line, (line) => {
            if (line !== undefined) reported = Number(line)
          }),
        )
        yield* Effect.timeoutOption(collect, random % 300)
        yield* child.kill
        const survived = yield* world.inDirectory(path, wholeCommit)
        expect(survived).toBeGreaterThanOrEqual(reported)
        expect(survived).toBeGreaterThan(written)
        written = survived
      }
    }).pipe(Effect.provide(world.platform)),
  )
})
