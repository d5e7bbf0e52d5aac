/** The state as of the archive's last commit. What is not final yet is the nodes' to know. */
import { Effect, Either, Layer, Option } from "effect"
import { fromHex } from "#crypto"
import type { DatabaseFailed } from "../archive/ArchiveError.js"
import type * as Postgres from "../archive/Postgres.js"
import { type Finalized as Known, pageOf, rangeOf, State, TransactionNotFound, wantedOf } from "../node/reads/State.js"
import type * as Genesis from "../protocol/epoch/Genesis.js"
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import * as Network from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as AccountRecord from "../protocol/state/AccountRecord.js"
import * as TransactionJson from "../protocol/transaction/TransactionJson.js"
import * as Statements from "../storage/tables/Statements.js"
import { Archive } from "./Archive.js"
import * as Column from "./Column.js"
import * as Finalized from "./Finalized.js"
import * as Forwarding from "./Forwarding.js"
import * as Latest from "./Latest.js"
import { Nodes } from "./Nodes.js"
import * as Nonces from "./Nonces.js"
import { Records } from "./Records.js"
import * as Together from "./Together.js"

const make = (genesis: Genesis.Genesis) =>
  Effect.gen(function* () {
    const [archive, nodes, records] = yield* Effect.all([Archive, Nodes, Records])
    const { networkId } = genesis
    const prefix = Network.addressPrefix(genesis.mode)
    const finalized = Finalized.make(networkId)

    const recordOf = yield* Together.make((addresses: ReadonlyArray<Address>) =>
      Effect.map(
        archive.read(({ rows }) =>
          rows("select address, record from accounts where address = any($1::bytea[])", [
            [...new Set(addresses)].map((address) => fromHex(address)),
          ]),
        ),
        (found) => new Map(found.map((row) => [Column.address(row, 0), Column.bytes(row, 1)])),
      ),
    )
    const account = (address: Address) =>
      Effect.map(recordOf(address), (found) => {
        const record = found.get(address)
        return {
          address,
          ...(record === undefined ? AccountRecord.empty : Either.getOrThrow(AccountRecord.decode(record))),
        }
      })

    /** What a node says of it, which may not be final here yet even if it is there. */
    const pending = (id: Hash) =>
      nodes
        .ask((client) => client.transactions.lookup({ path: { hash: id } }))
        .pipe(
          Effect.map(({ transaction }) => Either.getOrThrow(TransactionJson.fromJson(networkId, prefix, transaction))),
          Effect.catchTag("TransactionNotFound", ({ vertex_hash: hash, round, reason }) =>
            Effect.fail(
              new TransactionNotFound({
                id,
                withoutEffect:
                  hash === undefined || round === undefined || reason === undefined
                    ? Option.none()
                    : // The client has checked both.
                      Option.some({ vertex: { hash: hash as Hash, round: Natural.round(round) }, reason }),
              }),
            ),
          ),
          Effect.catchAll((trouble) =>
            trouble instanceof TransactionNotFound
              ? Effect.fail(trouble)
              : Effect.die(Forwarding.silent(trouble.message)),
          ),
        )

    const nextNonce = (address: Address) =>
      Effect.map(
        nodes.ask(({ core }) => core.balance({ path: { address } })),
        ({ next_nonce }) => next_nonce,
      )

    const recorded = (reads: (sql: Postgres.Statements) => Effect.Effect<ReadonlyArray<Known>, DatabaseFailed>) =>
      Effect.map(archive.read(reads), (found) => found.map(({ recorded }) => recorded))

    let asked = 0
    return State.of({
      genesis,
      hasArchive: true,
      // What is pending may change at any time, so no answer with it is kept.
      revision: () => ++asked,
      recorded: archive.asOf,
      asOf: () => Natural.commitIndex(archive.asOf()),
      summary: Effect.map(records.refreshed, () => ({
        head: records.view.read.head,
        totals: records.view.read.totals,
        parameters: records.view.read.parameters,
        epoch: records.view.read.epoch,
      })),
      time: Effect.map(records.refreshed, () => records.view.read.head.time),
      account,
      // Without a node nothing can be submitted, so nothing is pending that this gateway could know of.
      sender: (address) =>
        Effect.gen(function* () {
          const [found, told] = yield* Effect.all([account(address), Effect.option(nextNonce(address))], {
            concurrency: "unbounded",
          })
          const isTrue = (nonce: number) => Nonces.isNear(found, nonce)
          // A node that names another one lies, or the archive is far behind; the next node is asked before it is not believed.
          const next = Option.exists(told, (nonce) => !isTrue(nonce)) ? yield* Effect.option(nextNonce(address)) : told
          const believed = Option.getOrElse(Option.filter(next, isTrue), () => found.nonce)
          return { account: found, nextNonce: Natural.nonce(Math.max(believed, found.nonce)) }
        }),
      namesOf: (addresses) =>
        Effect.map(
          archive.read(({ rows }) =>
            rows("select address, record from accounts where address = any($1::bytea[]) and name is not null", [
              addresses.map((address) => fromHex(address)),
            ]),
          ),
          (found) => {
            const names = new Map(
              found.map((row) => [
                Column.address(row, 0),
                Either.getOrThrow(AccountRecord.decode(Column.bytes(row, 1))).name,
              ]),
            )
            return addresses.flatMap((address) => {
              const name = names.get(address) ?? null
              return name === null ? [] : [{ address, name }]
            })
          },
        ),
      addressOf: (name) =>
        Effect.map(
          archive.read(({ rows }) => rows("select address from accounts where name = $1", [name])),
          ([row]) => Option.map(Option.fromNullable(row), (row) => Column.address(row, 0)),
        ),
      transaction: (id) =>
        Effect.gen(function* () {
          const found = yield* archive.read((sql) => finalized.byId(sql, id))
          return Option.isSome(found) ? found.value : ({ _tag: "Pending", transaction: yield* pending(id) } as const)
        }),
      history: (address, before, limit, filter = {}) =>
        Effect.flatMap(
          rangeOf(before, filter, (moment) => archive.read((sql) => Latest.since(sql, moment))),
          (range) =>
            pageOf(limit, wantedOf(address, filter), range, (most) =>
              recorded((sql) => finalized.history(sql, address, range.end, most)),
            ),
        ),
      latest: (before, limit, filter) =>
        Effect.map(
          // One more than requested, to see whether there are more.
          archive[filter.words === undefined ? "snapshot" : "search"]((sql) =>
            finalized.latest(sql, filter, before, limit + 1),
          ),
          (found) => {
            const transactions = found.slice(0, limit)
            const last = transactions.at(-1)?.recorded.sequence ?? null
            return { transactions, next: found.length > limit ? last : null }
          },
        ),
      statement: ({ address, after, limit }) =>
        archive.snapshot((sql) =>
          Effect.gen(function* () {
            const most = limit + 1
            const [row] = yield* sql.rows("select balance from accounts where address = $1", [fromHex(address)])
            const transactions = yield* finalized.history(sql, address, after.sequence, most)
            const postings = yield* Finalized.postings(sql, address, after.position, most)
            const balance = row === undefined ? 0 : Column.integer(row, 0)
            const recorded = transactions.map(({ recorded }) => recorded)
            return Statements.pageOf(balance, recorded, postings, { after, limit })
          }),
        ),
    })
  })

export const layer = (genesis: Genesis.Genesis) => Layer.scoped(State, make(genesis))
