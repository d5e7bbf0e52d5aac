/** What a claim about an account proves, once its checkpoint is signed by a quorum. */
import { Either, Option } from "effect"
import { toHex } from "#crypto"
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type * as Address from "../../protocol/identity/Address.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import * as StateProof from "../../protocol/state/StateProof.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"
import type { Check } from "../../protocol/transaction/Verification.js"
import type { AccountClaim } from "./Answer.js"
import { type Detached, FalseProof, OtherAnswer, OtherName, Stale, type Unsigned } from "./Refusal.js"
import * as Trusted from "./Trusted.js"

/** An account in the state under a checkpoint. */
export interface Proven {
  readonly address: Address.Address
  /** All zeros for an account that the state does not have. */
  readonly account: AccountRecord.AccountRecord
  readonly checkpoint: Checkpoint
  /** The signers of the checkpoint; null if it is the trusted one itself. */
  readonly signed: Trusted.Vouchers | null
}

/** The content of a claim under its own checkpoint, before signatures are verified. */
export interface Consistent {
  readonly address: Address.Address
  readonly account: AccountRecord.AccountRecord
  readonly signed: SignedCheckpoint
}

const decodedOf = (address: Address.Address, value: Uint8Array): Either.Either<AccountRecord.AccountRecord, string> =>
  Either.gen(function* () {
    const record = yield* Either.mapLeft(StateRecord.decode(value), ({ reason }) => reason)
    if (record.kind !== "Account" || toHex(record.key) !== address) return yield* Either.left("another kind or key")
    return yield* Either.mapLeft(AccountRecord.decode(record.value), ({ reason }) => reason)
  })

const isWanted = (wanted: Address.Reference, { address }: AccountClaim): Either.Either<void, OtherAnswer> =>
  wanted._tag === "Address" && wanted.address !== address
    ? Either.left(new OtherAnswer({ asked: `account ${wanted.address}`, given: `account ${address}` }))
    : Either.void

/**
 * Verifies everything about a claim that needs no signature, hashing one leaf and one path. A name has at most one
 * owner, so the account with the name in its record is the right one.
 */
export const consistent = (
  wanted: Address.Reference,
  claim: AccountClaim,
): Either.Either<Consistent, OtherAnswer | FalseProof | OtherName> =>
  Either.gen(function* () {
    const { address, key, record, proof, signed } = claim
    yield* isWanted(wanted, claim)
    const isFalse = (reason: string) => new FalseProof({ address, reason })
    if (key !== StateKey.ofAccount(address)) return yield* Either.left(isFalse("the key is that of another account"))
    const value = yield* Either.mapLeft(StateProof.verify(signed.checkpoint.stateRoot, key, proof), ({ reason }) =>
      isFalse(reason),
    )
    if (record !== Option.getOrNull(Option.map(value, toHex))) {
      return yield* Either.left(isFalse("it proves a different record"))
    }
    const account = Option.isNone(value)
      ? AccountRecord.empty
      : yield* Either.mapLeft(decodedOf(address, value.value), isFalse)
    if (wanted._tag === "Name" && account.name !== wanted.name) {
      return yield* Either.left(new OtherName({ name: wanted.name, address }))
    }
    return { address, account, signed }
  })

/** Rejects a checkpoint of a lower round than the client has seen or asks for. */
export const recent = (round: number, { checkpoint }: SignedCheckpoint): Either.Either<void, Stale> =>
  checkpoint.round < round ? Either.left(new Stale({ round: checkpoint.round, known: round })) : Either.void

/** The account, if a quorum of the trusted committee signed the checkpoint, which must be of its own epoch. */
export const proven = (
  trusted: Trusted.Trusted,
  { address, account, signed }: Consistent,
  isValid: (check: Check) => boolean,
): Either.Either<Proven, Unsigned | Detached> =>
  Either.map(Trusted.vouchersOf(trusted, signed, isValid), (signers) => ({
    address,
    account,
    checkpoint: signed.checkpoint,
    signed: signers,
  }))

/**
 * Whether a transaction of this account with this nonce has taken effect: an account's nonce counts them, and every
 * nonce is used once. If the account's keys signed two transactions with one nonce, it does not tell which one.
 */
export const hasUsed = ({ account }: Pick<Proven, "account">, nonce: Nonce): boolean => account.nonce > nonce
