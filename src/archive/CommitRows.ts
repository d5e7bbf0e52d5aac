/** The archive's rows of commits, in commit order. */
import { Effect, Either } from "effect"
import { fromHex } from "#crypto"
import type * as Execution from "../ledger/rules/Execution.js"
import type * as PostingBlocks from "../ledger/rules/PostingBlocks.js"
import * as Rejection from "../ledger/rules/Rejection.js"
import type { Change } from "../ledger/tables/Effects.js"
import * as AccountRecord from "../protocol/state/AccountRecord.js"
import { KINDS } from "../protocol/state/StateKey.js"
import * as Charges from "../protocol/transaction/Charges.js"
import type { Operation } from "../protocol/transaction/Operation.js"
import type { Transaction } from "../protocol/transaction/Transaction.js"
import type { Commit } from "../protocol/vertex/Commit.js"
import type { Vertex } from "../protocol/vertex/Vertex.js"
import { CurrentRows } from "./CurrentRows.js"
import { HourRows } from "./HourRows.js"
import type { Statements } from "./Postgres.js"
import { PostingRows } from "./PostingRows.js"
import { Rows } from "./Rows.js"
import { storable } from "./Storable.js"

export interface Executed {
  readonly execution: Pick<Execution.Execution, "commit" | "time" | "effectsDigest" | "totals" | "vertices"> & {
    readonly changes: Iterable<Change>
    readonly postings: ReadonlyArray<PostingBlocks.Draft>
  }
  readonly vertices: ReadonlyArray<Vertex>
}

const wordsOf = (operation: Operation): string => {
  switch (operation._tag) {
    case "Transfer":
      return operation.memo
    case "CreateProposalTx":
      return `${operation.title}\n${operation.description}`
    default:
      return ""
  }
}

const accountOf = (value: Uint8Array): AccountRecord.AccountRecord => Either.getOrThrow(AccountRecord.decode(value))

export class CommitRows {
  readonly #commits = new Rows("commits", {
    commit_index: "bigint",
    epoch: "bigint",
    leader_round: "bigint",
    leader_hash: "hex",
    previous: "hex",
    hash: "hex",
    time: "instant",
    effects_digest: "hex",
    total_supply: "bigint",
    vertices: "integer",
    transactions: "integer",
  })
  readonly #vertices = new Rows("vertices", {
    commit_index: "bigint",
    position: "integer",
    hash: "hex",
    epoch: "bigint",
    round: "bigint",
    author: "hex",
    time: "instant",
    minted: "bigint",
    transactions: "integer",
    bytes: "bytea",
  })
  readonly #transactions = new Rows("transactions", {
    commit_index: "bigint",
    sequence: "bigint",
    hash: "hex",
    vertex_position: "integer",
    position: "integer",
    type: "text",
    sender: "hex",
    nonce: "bigint",
    recipient: "hex",
    amount: "bigint",
    fee: "bigint",
    charged: "bigint",
    failure: "text",
    failure_reason: "text",
    proposal_id: "bigint",
    words: "text",
    bytes: "bytea",
  })
  readonly #history = new Rows("account_history", {
    address: "hex",
    commit_index: "bigint",
    sequence: "bigint",
  })
  readonly #states = new Rows("account_states", {
    address: "bytea",
    commit_index: "bigint",
    balance: "bigint",
    nonce: "bigint",
    record: "bytea",
  })
  readonly #records = new Rows("record_states", {
    kind: "smallint",
    key: "bytea",
    commit_index: "bigint",
    value: "bytea",
  })
  /** As of the last of these commits. */
  readonly #current = new CurrentRows()
  readonly #postings = new PostingRows()
  readonly #hours = new HourRows()
  #sequence: number
  #last: Executed["execution"] | null = null

  /** `sequence`: the number of the last stored transaction. */
  constructor(sequence: number) {
    this.#sequence = sequence
  }

  add({ execution, vertices }: Executed): void {
    const { commit, time, effectsDigest, totals } = execution
    const before = this.#sequence
    const outcomes = execution.vertices
      .flatMap(({ transactions }) => transactions)
      .filter((outcome) => outcome._tag !== "NoEffect")
    for (const [position, vertex] of vertices.entries())
      this.#vertex(commit, vertex, position, execution.vertices[position])
    this.#postings.add(execution)
    for (const change of execution.changes) this.#change(commit, change)
    this.#commits.add({
      commit_index: commit.index,
      epoch: commit.epoch,
      leader_round: commit.leaderRound,
      leader_hash: commit.leaderHash,
      previous: commit.previous,
      hash: commit.hash,
      time,
      effects_digest: effectsDigest,
      total_supply: totals.total,
      vertices: vertices.length,
      transactions: this.#sequence - before,
    })
    this.#hours.add(time, totals.total, {
      vertices: vertices.length,
      transactions: outcomes.length,
      failed: outcomes.filter(({ _tag }) => _tag === "Failed").length,
      fees: outcomes.reduce((sum, { fee }) => sum + fee, 0),
    })
    this.#last = execution
  }

  #vertex({ index }: Commit, vertex: Vertex, position: number, outcome: Execution.VertexOutcome | undefined): void {
    const { header, body, encoded } = vertex
    this.#vertices.add({
      commit_index: index,
      position,
      hash: header.hash,
      epoch: header.epoch,
      round: header.round,
      author: header.author,
      time: header.timestamp,
      minted: outcome?.minted ?? 0,
      transactions: body.transactions.length,
      bytes: encoded,
    })
    for (const [place, transaction] of body.transactions.entries()) {
      const result = outcome?.transactions[place]
      if (result === undefined || result._tag === "NoEffect") continue
      this.#transaction(index, position, place, transaction, result)
    }
  }

  #transaction(
    index: number,
    vertex: number,
    position: number,
    transaction: Transaction,
    outcome: Exclude<Execution.Outcome, { readonly _tag: "NoEffect" }>,
  ): void {
    const sequence = ++this.#sequence
    const { id, operation, from, nonce, encoded } = transaction
    const reason = outcome._tag === "Failed" ? outcome.reason : null
    this.#transactions.add({
      commit_index: index,
      sequence,
      hash: id,
      vertex_position: vertex,
      position,
      type: operation._tag,
      sender: from,
      nonce,
      recipient: Charges.recipientOf(operation) ?? null,
      amount: "amount" in operation ? operation.amount : null,
      fee: outcome.fee,
      charged: outcome.fee + (outcome._tag === "Applied" ? outcome.taken : 0),
      failure: reason?._tag ?? null,
      failure_reason: reason === null ? null : storable(Rejection.describe(reason)),
      proposal_id: outcome._tag === "Applied" ? outcome.proposalId : null,
      words: storable(wordsOf(operation)),
      bytes: encoded,
    })
    for (const address of Charges.addressesOf(transaction))
      this.#history.add({ address, commit_index: index, sequence })
  }

  #change({ index }: Commit, change: Change): void {
    const { kind, key, value } = change
    if (kind !== "Account") {
      this.#current.record(index, change)
      this.#records.add({ kind: KINDS[kind].byte, key, commit_index: index, value })
      return
    }
    const account = value === null ? null : accountOf(value)
    this.#states.add({
      address: key,
      commit_index: index,
      balance: account?.balance ?? 0,
      nonce: account?.nonce ?? 0,
      record: value,
    })
    this.#current.account(index, key, account, value ?? new Uint8Array())
  }

  /**
   * Writes all rows and moves the position; false if the position is not directly before the first of these commits.
   */
  write(sql: Statements, expected: number | null) {
    return Effect.gen(this, function* () {
      const last = this.#last
      if (last === null) return true
      const { commit, effectsDigest } = last
      const place = [commit.index, fromHex(commit.hash), fromHex(effectsDigest), this.#sequence]
      const moved =
        expected === null
          ? yield* sql.rows(
              `insert into position (commit_index, commit_hash, effects_digest, last_sequence)
                values ($1, $2, $3, $4) on conflict do nothing returning 1`,
              place,
            )
          : yield* sql.rows(
              `update position set commit_index = $1, commit_hash = $2, effects_digest = $3, last_sequence = $4
                where commit_index = $5 returning 1`,
              [...place, expected],
            )
      if (moved.length === 0) return false
      for (const rows of [
        this.#commits,
        this.#vertices,
        this.#transactions,
        this.#history,
        this.#states,
        this.#records,
      ])
        yield* rows.write(sql)
      yield* this.#postings.write(sql)
      yield* this.#hours.write(sql)
      yield* this.#current.write(sql)
      return true
    })
  }
}
