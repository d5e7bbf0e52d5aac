/** Balance changes of commits other than transfers; small amounts are summed over blocks of commits, as on nodes. */
import { Effect } from "effect"
import * as PostingBlocks from "../ledger/rules/PostingBlocks.js"
import type { Timestamp } from "../protocol/numbers/Natural.js"
import * as Sats from "../protocol/numbers/Sats.js"
import type { Commit } from "../protocol/vertex/Commit.js"
import type { Statements } from "./Postgres.js"
import { Rows } from "./Rows.js"

interface Made {
  readonly commit: Pick<Commit, "index" | "leaderRound">
  readonly time: Timestamp
  readonly postings: ReadonlyArray<PostingBlocks.Draft>
}

interface Entry extends PostingBlocks.Place {
  readonly draft: PostingBlocks.Draft
  readonly since: Timestamp
  readonly time: Timestamp
  readonly round: number
}

export class PostingRows {
  /** One statement can touch a row only once, so postings of a block are summed here first. */
  readonly #entries = new Map<string, Entry>()

  add({ commit: { index, leaderRound: round }, time, postings }: Made): void {
    for (const [i, draft] of postings.entries()) {
      const place = PostingBlocks.placeOf(draft, index, i)
      const key = `${draft.address} ${place.until} ${draft.kind} ${place.number}`
      const before = this.#entries.get(key)
      const amount = Sats.addBounded(before?.draft.amount ?? Sats.ZERO, draft.amount)
      this.#entries.set(key, { ...place, draft: { ...draft, amount }, since: before?.since ?? time, time, round })
    }
  }

  write(sql: Statements) {
    return Effect.suspend(() => {
      const rows = new Rows(
        "account_postings",
        {
          address: "hex",
          until: "bigint",
          kind: "postingKind",
          number: "integer",
          amount: "bigint",
          proposal_id: "bigint",
          since: "instant",
          time: "instant",
          round: "bigint",
        },
        `on conflict (address, until, kind, number) do update
          set amount = account_postings.amount + excluded.amount, time = excluded.time, round = excluded.round`,
      )
      for (const { draft, ...entry } of this.#entries.values()) {
        const { address, kind, amount, proposalId } = draft
        rows.add({ ...entry, address, kind, amount, proposal_id: proposalId })
      }
      return rows.write(sql)
    })
  }
}
