/** Accounts as of the archive's last commit, with the next nonces known to the nodes. */
import { Effect, Either, Option } from "effect"
import { fromHex } from "#crypto"
import type { State } from "../node/reads/State.js"
import type { Address } from "../protocol/identity/Address.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as AccountRecord from "../protocol/state/AccountRecord.js"
import { Archive } from "./Archive.js"
import * as Coalescing from "./Coalescing.js"
import * as Column from "./Column.js"
import { Nodes } from "./Nodes.js"
import * as Nonces from "./Nonces.js"

const RECORDS = "select address, record from accounts where address = any($1::bytea[])"
const NAMED = `${RECORDS} and name is not null`
const OWNER = "select address from accounts where name = $1"

type Accounts = Pick<typeof State.Service, "account" | "sender" | "namesOf" | "addressOf">

export const make = Effect.gen(function* () {
  const [archive, nodes] = yield* Effect.all([Archive, Nodes])

  const recordsOf = (statement: string, addresses: Iterable<Address>) =>
    Effect.map(
      archive.read(({ rows }) => rows(statement, [[...addresses].map((address) => fromHex(address))])),
      (found) =>
        new Map(
          found.map((row) => [Column.address(row, 0), Either.getOrThrow(AccountRecord.decode(Column.bytes(row, 1)))]),
        ),
    )

  const recordOf = yield* Coalescing.make((addresses: ReadonlyArray<Address>) => recordsOf(RECORDS, new Set(addresses)))
  const account: Accounts["account"] = (address) =>
    Effect.map(recordOf(address), (found) => ({ address, ...(found.get(address) ?? AccountRecord.empty) }))

  const nextNonce = (address: Address) =>
    Effect.map(
      nodes.ask(({ core }) => core.balance({ path: { address } })),
      ({ next_nonce }) => next_nonce,
    )

  return {
    account,
    // Without a node nothing can be submitted, so nothing is pending that this gateway could know of.
    sender: (address) =>
      Effect.gen(function* () {
        const [found, told] = yield* Effect.all([account(address), Effect.option(nextNonce(address))], {
          concurrency: "unbounded",
        })
        const isTrue = (nonce: number) => Nonces.isNear(found, nonce)
        // A node with another nonce lies, or the archive is far behind; the next node is asked before disbelieving it.
        const next = Option.exists(told, (nonce) => !isTrue(nonce)) ? yield* Effect.option(nextNonce(address)) : told
        const believed = Option.getOrElse(Option.filter(next, isTrue), () => found.nonce)
        return { account: found, nextNonce: Natural.nonce(Math.max(believed, found.nonce)) }
      }),
    namesOf: (addresses) =>
      Effect.map(recordsOf(NAMED, addresses), (found) =>
        addresses.flatMap((address) => {
          const name = found.get(address)?.name ?? null
          return name === null ? [] : [{ address, name }]
        }),
      ),
    addressOf: (name) =>
      Effect.map(
        archive.read(({ rows }) => rows(OWNER, [name])),
        ([row]) => Option.map(Option.fromNullable(row), (row) => Column.address(row, 0)),
      ),
  } satisfies Accounts
})
