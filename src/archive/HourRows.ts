/** Sums over the commits of each hour, added to those in the database. */
import { Effect } from "effect"
import type { Timestamp } from "../protocol/numbers/Natural.js"
import type { Sats } from "../protocol/numbers/Sats.js"
import type { Statements } from "./Postgres.js"
import { Rows } from "./Rows.js"

const HOUR_MS = 3_600_000

interface Done {
  readonly vertices: number
  readonly transactions: number
  readonly failed: number
  readonly fees: number
}

interface Hour extends Done {
  readonly commits: number
  readonly totalSupply: Sats
}

const NOTHING = { commits: 0, vertices: 0, transactions: 0, failed: 0, fees: 0 }

export class HourRows {
  readonly #hours = new Map<number, Hour>()

  /** A commit at this time, and the supply after it. */
  add(time: Timestamp, totalSupply: Sats, done: Done): void {
    const hour = Math.floor(time / HOUR_MS)
    const before = this.#hours.get(hour) ?? NOTHING
    this.#hours.set(hour, {
      commits: before.commits + 1,
      vertices: before.vertices + done.vertices,
      transactions: before.transactions + done.transactions,
      failed: before.failed + done.failed,
      fees: before.fees + done.fees,
      totalSupply,
    })
  }

  write(sql: Statements) {
    return Effect.suspend(() => {
      const added = ["commits", "vertices", "transactions", "failed", "fees"]
      const rows = new Rows(
        "hours",
        {
          hour: "bigint",
          commits: "bigint",
          vertices: "bigint",
          transactions: "bigint",
          failed: "bigint",
          fees: "numeric",
          total_supply: "bigint",
        },
        `on conflict (hour) do update set total_supply = excluded.total_supply,
          ${added.map((name) => `${name} = hours.${name} + excluded.${name}`).join(", ")}`,
      )
      for (const [hour, { totalSupply, ...done }] of this.#hours) rows.add({ hour, ...done, total_supply: totalSupply })
      return rows.write(sql)
    })
  }
}
