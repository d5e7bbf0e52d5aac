/**
 * Verifies nodes' answers instead of trusting them. An account or transaction is returned only with a proof against a
 * checkpoint signed by a quorum, of a committee that follows from a trusted genesis or checkpoint. Runs in browsers.
 * With promises:
 *
 *     const light = Light.client({ trust: Light.genesis(JSON.parse(file)), nodes: ["https://node.example"] })
 *     const { proven } = await light.account("@alice")
 *
 * With Effects: `Light.check` and `Light.checkTransaction`.
 */
import { Effect, Either, Schema } from "effect"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Address from "../protocol/identity/Address.js"
import * as Hash from "../protocol/identity/Hash.js"
import { addressPrefix, type Mode, type NetworkId } from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import { isStrictlyValid } from "../protocol/transaction/Verification.js"
import * as Check from "./Check.js"
import { type Judged, NotProven, type Options, type Pin, type Trust } from "./Check.js"
import * as Account from "./checks/Account.js"
import * as Answer from "./checks/Answer.js"
import * as Transaction from "./checks/Transaction.js"
import * as Trusted from "./checks/Trusted.js"

export type { Proven } from "./checks/Account.js"
export { hasUsed } from "./checks/Account.js"
export type { Refusal, Verdict } from "./checks/Refusal.js"
export type { ProvenTransaction } from "./checks/Transaction.js"
export type { Judged, Options, Pin, Trust }
export { NotProven }

export type Report = Check.Report<Account.Proven>
export type TransactionReport = Check.Report<Transaction.ProvenTransaction>

const ofAccount = (wanted: Address.Reference): Check.Subject<Account.Consistent, Account.Proven> => ({
  question: {
    path: `/proof/${wanted._tag === "Address" ? wanted.address : `@${wanted.name}`}`,
    limit: Answer.ACCOUNT_BYTES,
  },
  read: (bytes) => Either.flatMap(Answer.account(bytes), (claim) => Account.consistent(wanted, claim)),
  follows: ({ signed }, { closing }, fromRound) => Account.recent(Math.max(fromRound, closing?.round ?? 0), signed),
  prove: (trusted, claim) => Account.proven(trusted, claim, isStrictlyValid),
})

const ofTransaction = (
  id: Hash.Hash,
  networkId: NetworkId | null,
): Check.Subject<Transaction.Consistent, Transaction.ProvenTransaction> => ({
  question: { path: `/proof/tx/${id}`, limit: Answer.TRANSACTION_BYTES },
  read: (bytes) => Either.flatMap(Answer.transaction(bytes), (claim) => Transaction.consistent(id, networkId, claim)),
  follows: ({ signed }, start) => Transaction.reachable(start, signed),
  prove: (trusted, claim) => Transaction.proven(trusted, claim, isStrictlyValid),
})

/** Asks every node for the account, and verifies each answer on its own. */
export const check = (
  trust: Trust,
  nodes: ReadonlyArray<string>,
  wanted: Address.Reference,
  options?: Options,
): Effect.Effect<Report, NotProven> => Check.check(trust, nodes, ofAccount(wanted), options)

/** Asks every node for a transaction by its hash, and verifies each answer on its own. */
export const checkTransaction = (
  trust: Trust,
  nodes: ReadonlyArray<string>,
  id: Hash.Hash,
  options?: Options,
): Effect.Effect<TransactionReport, NotProven> => Check.check(trust, nodes, ofTransaction(id, trust.networkId), options)

/** Trust in a network's genesis. */
export const ofGenesis = (genesis: Genesis.Genesis): Trust => ({
  root: { _tag: "Committee", trusted: Trusted.ofGenesis(genesis) },
  prefix: addressPrefix(genesis.mode),
  networkId: genesis.networkId,
})

/** Malformed text or JSON. The message names the field and the reason. */
export class InvalidInput extends Error {
  override readonly name = "InvalidInput"
}

const orThrow = <A>(result: Either.Either<A, { readonly message: string }>): A =>
  Either.getOrThrowWith(result, ({ message }) => new InvalidInput(message))

/** Trust in a network's genesis, given its parsed file. */
export const genesis = (file: unknown): Trust => ofGenesis(orThrow(Genesis.fromFile(file)))

const decodePin = Schema.decodeUnknownEither(
  Schema.Struct({
    epoch: Natural.schema<Natural.Epoch>("an epoch").pipe(Schema.filter((epoch) => epoch > 0)),
    hash: Hash.schema,
  }),
)

/** Trust in the checkpoint that closed this epoch, as named by a source that you trust. */
export const checkpoint = (epoch: number, hash: string, mode: Mode): Trust => {
  const decoded = decodePin({ epoch, hash })
  const expected = "use an epoch from 1 and 64 hex characters"
  const pin = orThrow(
    Either.mapLeft(decoded, () => new InvalidInput(`${epoch}:${hash} is not a checkpoint; ${expected}`)),
  )
  return { root: { _tag: "Pin", pin }, prefix: addressPrefix(mode), networkId: null }
}

/** The closing checkpoint that a trust goes back to, to be saved for `checkpoint`; null for a genesis. */
export const pinOf = ({ root }: Trust): Pin | null => {
  if (root._tag === "Pin") return root.pin
  const { closing } = root.trusted
  return closing && { epoch: closing.epoch, hash: closing.hash }
}

const decodeHash = Schema.decodeUnknownEither(Hash.schema)

export interface Settings extends Options {
  readonly trust: Trust
  /** The URLs of nodes. One is enough for a proof; several are compared. */
  readonly nodes: ReadonlyArray<string>
}

/** Remembers what it has proven, so later checks are short and older checkpoints are rejected. */
export interface Client {
  /** Proves an account, by its address in hex or bech32m, or by its @name. Rejects with `NotProven`. */
  readonly account: (text: string) => Promise<Report>
  /**
   * Proves that a transaction, by its hash, is in the total order since the initial trust. Rejects with `NotProven`.
   */
  readonly transaction: (hash: string) => Promise<TransactionReport>
  /** The current trust. */
  readonly trust: () => Trust
}

const settled = async <A>(effect: Effect.Effect<A, NotProven>): Promise<A> => {
  const outcome = await Effect.runPromise(Effect.either(effect))
  if (Either.isLeft(outcome)) throw outcome.left
  return outcome.right
}

export const client = ({ trust: first, nodes, ...options }: Settings): Client => {
  let trust = first
  let round = options.fromRound ?? 0
  const remember = (report: Report): void => {
    const { checkpoint } = report.proven
    if (checkpoint.round < round) return
    round = checkpoint.round
    trust = report.trust
  }
  return {
    account: async (text) => {
      const wanted = orThrow(Address.parseReference(text, trust.prefix))
      const report = await settled(check(trust, nodes, wanted, { ...options, fromRound: round }))
      remember(report)
      return report
    },
    // Starts from the initial trust: the current one may be later than the transaction, and no proof leads back.
    transaction: async (text) => {
      const expected = () => new InvalidInput(`${JSON.stringify(text)} is not a hash; use 64 hex characters`)
      const id = orThrow(Either.mapLeft(decodeHash(text), expected))
      return settled(checkTransaction(first, nodes, id, options))
    },
    trust: () => trust,
  }
}
