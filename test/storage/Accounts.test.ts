import { it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { describe, expect } from "vitest"
import { fromHex } from "#crypto"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import type * as Storage from "../../src/storage/Storage.js"
import * as Accounts from "../../src/storage/tables/Accounts.js"
import { withDirectory, withStorage } from "./withStorage.js"
import * as world from "./world.js"

const loaded = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    const accounts: Array<Accounts.StoredAccount> = []
    yield* storage.accounts.load((page) => accounts.push(...page))
    return accounts
  })

describe("the accounts", () => {
  withStorage("are read back exactly as the ledger wrote them", function* (storage) {
    const record: AccountRecord.AccountRecord = {
      ...AccountRecord.noExtras,
      balance: Sats.MAX_SUPPLY,
      nonce: Natural.nonce(Number.MAX_SAFE_INTEGER),
      publicKey: world.key(3).publicKey,
      stake: { amount: Sats.MIN_STAKE_SATS, leaving: null },
      policy: { threshold: 1, keys: [world.key(4).publicKey] },
    }
    const change = { ...world.account(1, 0), value: AccountRecord.encode(record) }
    yield* storage.append([{ _tag: "Commit", batch: world.batch(0, { changes: [change] }) }])
    const [account] = yield* loaded(storage)
    expect(account?.balance).toBe(Sats.MAX_SUPPLY)
    const stored = Accounts.toRecord(account ?? expect.fail("no account"))
    expect(stored.key).toEqual(fromHex(world.address(1)))
    expect(Either.getOrThrow(AccountRecord.decode(stored.value))).toEqual(record)
  })

  withStorage("are read in address order, each once, over several pages", function* (storage) {
    const changes = Array.from({ length: 20_000 }, (_, n) => world.account(n, n))
    yield* storage.append([{ _tag: "Commit", batch: world.batch(0, { changes }) }])
    const addresses = (yield* loaded(storage)).map(({ address }) => address)
    expect(addresses).toEqual(changes.map((_, n) => world.address(n)).sort())
    expect(yield* storage.accounts.count).toBe(20_000)
  })

  withStorage("change and disappear with the commits", function* (storage) {
    yield* storage.append([
      { _tag: "Commit", batch: world.batch(0, { changes: [world.account(1, 10), world.account(2, 20)] }) },
    ])
    yield* storage.append([
      {
        _tag: "Commit",
        batch: world.batch(1, { changes: [world.account(1, 11, 1), { ...world.account(2, 0), value: null }] }),
      },
    ])
    const accounts = yield* loaded(storage)
    expect(accounts.map(({ address, balance, nonce }) => ({ address, balance, nonce }))).toEqual([
      { address: world.address(1), balance: 11, nonce: 1 },
    ])
  })

  withDirectory("have the balance that an operator wrote into the table by hand", function* (path) {
    yield* world.inDirectory(path, (storage) =>
      storage.append([{ _tag: "Commit", batch: world.batch(0, { changes: [world.account(1, 1_000)] }) }]),
    )
    yield* world.sqlite(
      `${path}/udg.db`,
      `update accounts set balance = balance + 1 where address = '${world.address(1)}'`,
    )
    const [account] = yield* world.inDirectory(path, loaded)
    expect(account?.balance).toBe(1_001)
  })

  it("cannot have a balance below zero", () => {
    const account = { address: world.address(1), balance: -1, nonce: 0, extras: Uint8Array.of(0) }
    expect(() => Accounts.toRecord(account)).toThrow("-1")
  })
})
