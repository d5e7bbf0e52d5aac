/** The openings of the running epoch and the one before it. */
import { Effect, Either } from "effect"
import { fromHex } from "#crypto"
import type { Opening } from "../../consensus/output/Opening.js"
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Joins from "./Joins.js"

const openingOf = (row: Column.Row): Opening => ({
  base: Column.hash(row, 0),
  record: Either.getOrElse(EpochRecord.decode(Column.bytes(row, 1)), ({ message }) => {
    throw new Column.UnexpectedValue(message)
  }),
  position: {
    index: Column.counter(row, 2),
    hash: Column.hash(row, 3),
    leaderRound: Column.counter(row, 4),
    time: Column.counter(row, 5),
  },
})

/** Part of a larger transaction. */
export const insert = (sql: Sql, { base, record, position }: Opening): void =>
  sql`insert or replace into openings (epoch, base, record, commit_index, commit_hash, leader_round, time) values (
    ${record.epoch}, ${fromHex(base)}, ${EpochRecord.encode(record)}, ${position.index}, ${fromHex(position.hash)},
    ${position.leaderRound}, ${position.time})`.run()

export const make = (database: Database) => ({
  /**
   * Begins the epoch, keeps only one before it, and drops a fast sync to an earlier close. Returns once this and
   * everything before it is on disk, so that a power cut takes nothing of a finished epoch.
   */
  begin: (opening: Opening) =>
    database.writeSynced((sql) =>
      Effect.sync(() => {
        insert(sql, opening)
        sql`delete from openings where epoch < ${opening.record.epoch - 1}`.run()
        Joins.forgetBefore(sql, opening.record.epoch)
      }),
    ),

  /** The running epoch, then the one before it; empty in a new database. */
  kept: database.select(
    openingOf,
    "select base, record, commit_index, commit_hash, leader_round, time from openings order by epoch desc limit 2",
  ),
})
