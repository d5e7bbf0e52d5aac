/**
 * Executes the stored commits of a stopped node again, and shows the state after each of them, not only after the last.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, Either } from "effect"
import { expect } from "vitest"
import { toHex } from "#crypto"
import { Ledger } from "../../src/ledger/Ledger.js"
import * as HalfSipHash from "../../src/ledger/tables/HalfSipHash.js"
import * as Lookup from "../../src/node/reads/Lookup.js"
import type { Genesis } from "../../src/protocol/epoch/Genesis.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import { DataDirectory } from "../../src/storage/files/DataDirectory.js"
import * as StorageOf from "../../src/storage/Storage.js"
import { Storage } from "../../src/storage/Storage.js"

/** All accounts that are not empty, by address in hex. */
export type Accounts = ReadonlyMap<string, Pick<AccountRecord.AccountRecord, "balance" | "nonce">>

const PAGE = 500

/**
 * Calls `seen` after the genesis and after each commit. Fails if the effects differ from those that the node recorded.
 */
export const replay = (
  genesis: Genesis,
  directory: string,
  seen: (commit: number, accounts: Accounts) => Promise<void>,
): Promise<void> => {
  const ledger = Ledger.fromGenesis(genesis, HalfSipHash.keyFrom(new Uint8Array(HalfSipHash.KEY_BYTES)))
  const accounts = new Map<string, Pick<AccountRecord.AccountRecord, "balance" | "nonce">>()
  const change = (key: Uint8Array, value: Uint8Array | null) => {
    if (value === null) accounts.delete(toHex(key))
    else accounts.set(toHex(key), Either.getOrThrow(AccountRecord.decode(value)))
  }
  for (const { kind, key, value } of ledger.records()) if (kind === "Account") change(key, value)
  const program = Effect.gen(function* () {
    const { commits, vertices } = yield* Storage
    yield* Effect.promise(() => seen(0, accounts))
    for (let next = 1; ; ) {
      const records = yield* commits.from(Natural.commitIndex(next), PAGE)
      if (records.length === 0) return
      for (const record of records) {
        expect(record.index).toBe(next++)
        const stored = yield* vertices.ofCommit(record.index)
        const decoded = yield* Effect.forEach(stored, ({ bytes }) => Lookup.vertex(genesis.networkId, bytes))
        const execution = yield* ledger.execute({ commit: record, time: record.time, vertices: decoded })
        expect(execution.effectsDigest).toBe(record.effectsDigest)
        for (const { kind, key, value } of execution.changes) if (kind === "Account") change(key, value)
        yield* Effect.promise(() => seen(record.index, accounts))
      }
    }
  })
  const files = Effect.flatMap(DataDirectory.open(directory), (opened) =>
    Effect.provide(program, StorageOf.layerToRead(opened, genesis)),
  )
  return Effect.runPromise(Effect.provide(Effect.scoped(files), NodeFileSystem.layer))
}
