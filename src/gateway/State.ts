/** The state as of the archive's last commit. Only nodes know of pending transactions. */
import { Effect, Either, Layer, Option } from "effect"
import { fromHex } from "#crypto"
import type { Statements } from "../archive/Postgres.js"
import { pageOf, rangeOf, State, TransactionNotFound, wantedOf } from "../node/reads/State.js"
import type * as Genesis from "../protocol/epoch/Genesis.js"
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import * as Network from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as JsonForm from "../protocol/transaction/JsonForm.js"
import type * as Failure from "../rpc/api/Failure.js"
import { type Request, pageOf as statementOf } from "../storage/tables/Statements.js"
import * as Accounts from "./Accounts.js"
import { Archive } from "./Archive.js"
import * as Column from "./Column.js"
import * as FinalizedTransactions from "./FinalizedTransactions.js"
import { forwarded } from "./Forwarding.js"
import { Nodes } from "./Nodes.js"
import { RecordCache } from "./RecordCache.js"
import * as TransactionList from "./TransactionList.js"

/** No node has it. The client has verified the vertex in which it had no effect. */
const absent = (id: Hash, { vertex_hash: hash, round, reason }: Failure.TransactionNotFound): TransactionNotFound =>
  new TransactionNotFound({
    id,
    withoutEffect:
      hash === undefined || round === undefined || reason === undefined
        ? Option.none()
        : Option.some({ vertex: { hash: hash as Hash, round: Natural.round(round) }, reason }),
  })

/** A node's answer: the transaction may be final there but not here yet. */
const pendingAt =
  (nodes: typeof Nodes.Service, { networkId, mode }: Genesis.Genesis) =>
  (id: Hash) =>
    nodes
      .ask((client) => client.transactions.lookup({ path: { hash: id } }))
      .pipe(
        forwarded("TransactionNotFound"),
        Effect.mapError((failure) => (failure._tag === "TransactionNotFound" ? absent(id, failure) : failure)),
        Effect.map(({ transaction }) =>
          Either.getOrThrow(JsonForm.fromJson(networkId, Network.addressPrefix(mode), transaction)),
        ),
      )

const statement = (finalized: ReturnType<typeof FinalizedTransactions.make>, sql: Statements, request: Request) =>
  Effect.gen(function* () {
    const { address, after, limit } = request
    const most = limit + 1
    const [row] = yield* sql.rows("select balance from accounts where address = $1", [fromHex(address)])
    const transactions = yield* finalized.history(sql, address, after.sequence, most)
    const postings = yield* FinalizedTransactions.postings(sql, address, after.position, most)
    const balance = row === undefined ? 0 : Column.integer(row, 0)
    return statementOf(
      balance,
      transactions.map(({ recorded }) => recorded),
      postings,
      request,
    )
  })

const make = (genesis: Genesis.Genesis) =>
  Effect.gen(function* () {
    const [archive, nodes, { refreshed, view }] = yield* Effect.all([Archive, Nodes, RecordCache])
    const finalized = FinalizedTransactions.make(genesis.networkId)
    const pending = pendingAt(nodes, genesis)
    let asked = 0
    return State.of({
      ...(yield* Accounts.make),
      genesis,
      // Pending transactions can change at any time, so no answer with them is cached.
      revision: () => ++asked,
      recorded: archive.asOf,
      asOf: () => Natural.commitIndex(archive.asOf()),
      summary: Effect.map(refreshed, () => {
        const { head, totals, parameters } = view.read
        return { head, totals, parameters }
      }),
      // A key signs from an epoch's beginning on, and the change to it is a record of an epoch before.
      validatorOf: Effect.suspend(() =>
        Effect.as(archive.epoch() > view.read.epoch.epoch ? refreshed : Effect.void, (key: Address) =>
          view.read.accountOf(key),
        ),
      ),
      transaction: (id) =>
        Effect.gen(function* () {
          const found = yield* archive.read((sql) => finalized.byId(sql, id))
          return Option.isSome(found) ? found.value : ({ _tag: "Pending", transaction: yield* pending(id) } as const)
        }),
      history: (address, before, limit, filter = {}) =>
        Effect.flatMap(
          rangeOf(before, filter, (moment) => archive.read((sql) => TransactionList.since(sql, moment))),
          (range) =>
            pageOf(limit, wantedOf(address, filter), range, (most) =>
              Effect.map(
                archive.read((sql) => finalized.history(sql, address, range.end, most)),
                (found) => found.map(({ recorded }) => recorded),
              ),
            ),
        ),
      statement: (request) => archive.snapshot((sql) => statement(finalized, sql, request)),
    })
  })

export const layer = (genesis: Genesis.Genesis) => Layer.scoped(State, make(genesis))
