/** Compares an archive's database with the node it follows and with its follower's own files. */
import { join } from "node:path"
import { expect } from "vitest"
import { migrations } from "../../src/archive/Schema.js"
import * as Processes from "../network/Processes.js"
import type { Follower } from "./Follower.js"
import * as Server from "./Server.js"

/** The last commit of a database; -1 if it has none or does not answer. */
export const position = async (database: string): Promise<number> => {
  const rows = await Server.query(database, "select commit_index from position").catch(() => [])
  return Number(rows[0]?.[0] ?? -1)
}

/** Accounts whose balance differs from the sum of their transactions and postings. */
const UNEXPLAINED = `
  with moved (address, change) as (
    select sender, -charged from transactions
    union all select recipient, charged - fee from transactions where recipient is not null and failure is null
    union all select address, amount from account_postings where kind not in ('stake_slashed', 'delegations_slashed')
    union all select address, -balance from accounts)
  select encode(address, 'hex'), sum(change) from moved group by address having sum(change) <> 0`

/** The hours as a migration computes them from existing rows. */
const hoursOf = (migration: string): string =>
  `select * from (${migration.slice(migration.indexOf("\nselect")).replace(/;\s*$/, "")}) h order by 1`

const compareRecords = async (database: string, file: string) => {
  const held = await Server.query(
    database,
    "select kind, encode(key, 'hex'), encode(value, 'hex') from records order by kind, key",
  )
  expect(held).toEqual(
    Processes.rows(file, "select kind, lower(hex(key)), lower(hex(value)) from records order by kind, key"),
  )
}

/** Compares the node's commits, and the follower's own state and transactions. */
export const compare = async (database: string, node: Processes.Started, follower: Follower) => {
  const last = await position(database)
  const commits = await Server.query(
    database,
    "select commit_index, upper(encode(hash, 'hex')), upper(encode(effects_digest, 'hex')) from commits order by 1",
  )
  expect(commits.length).toBe(last + 1)
  // A follower commits on its own, and can be ahead of what the node has written.
  await expect.poll(() => Processes.commits(node).length, { timeout: 60_000 }).toBeGreaterThan(last)
  const expected = Processes.commits(node).slice(0, last + 1)
  expect(commits).toEqual(expected.map(({ index, hash, effects }) => [String(index), hash, effects]))
  const file = join(follower.directory, "udg.db")
  const accounts = Processes.rows(file, "select address, balance, nonce from accounts order by address")
  const states = await Server.query(
    database,
    `select encode(address, 'hex'), balance::int8, nonce::int8 from (
      select distinct on (address) address, balance, nonce, record from account_states order by address, commit_index desc
    ) s where record is not null order by 1`,
  )
  expect(states.map(([address, ...rest]) => [address, ...rest.map(Number)])).toEqual(accounts)
  const current = await Server.query(database, "select encode(address, 'hex'), balance, nonce from accounts order by 1")
  expect(current.map(([address, ...rest]) => [address, ...rest.map(Number)])).toEqual(accounts)
  expect(await Server.query(database, UNEXPLAINED)).toEqual([])
  expect(await Server.query(database, "select * from hours order by hour")).toEqual(
    await Server.query(database, hoursOf(migrations[3]?.statements ?? "")),
  )
  await compareRecords(database, file)
  const [[transactions, first, end, distinct] = []] = await Server.query(
    database,
    "select count(*), min(sequence), max(sequence), count(distinct hash) from transactions",
  )
  expect([first, end, distinct]).toEqual(["1", transactions, transactions])
  return { last, transactions: Number(transactions) }
}
