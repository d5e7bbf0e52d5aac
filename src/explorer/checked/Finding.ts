/** The result of checking a balance that a node reports. Pure. */
import type { Address } from "../../protocol/identity/Address.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"

/** What the node reports about the account. */
export interface Claim {
  readonly address: Address
  readonly balance: Sats
  readonly nonce: Nonce
}

/** A claim and the round since which, at the latest, the node has made it. */
export interface Standing {
  readonly claim: Claim
  readonly since: number
}

/** What a quorum signed. */
export interface Signed extends Claim {
  readonly round: number
  /** Null for the checkpoint that was trusted initially. */
  readonly signers: { readonly by: number; readonly of: number } | null
}

export type Finding =
  | { readonly _tag: "Proven"; readonly signed: Signed }
  /** No honest node gives this answer. */
  | { readonly _tag: "Refused"; readonly reason: string }
  /** The node claims to belong to another network than the trusted one. */
  | { readonly _tag: "OtherNetwork" }
  /** Nothing is proven or disproven. */
  | { readonly _tag: "Unchecked"; readonly reason: string }

export const isSame = (a: Claim, b: Claim): boolean =>
  a.address === b.address && a.balance === b.balance && a.nonce === b.nonce

/** The claim with the round since which it stands. `final` is the last finalized round, read after the claim. */
export const standing = (before: Standing | undefined, claim: Claim, final: number): Standing =>
  before !== undefined && isSame(before.claim, claim) ? before : { claim, since: final }

/**
 * Compares the signed balance with the node's claims before and after its checkpoint. An account's balance falls only
 * by its own transactions, which increase its nonce. So if both values are the same before and after, they were the
 * same in between.
 */
export const judge = (signed: Signed, { claim, since }: Standing): Finding => {
  if (signed.address !== claim.address) {
    return { _tag: "Refused", reason: `it shows account ${claim.address}, and proves account ${signed.address}` }
  }
  if (isSame(signed, claim) || signed.round <= since) return { _tag: "Proven", signed }
  const differs = signed.balance === claim.balance ? "another nonce" : "another balance"
  const reason = `at checkpoint ${signed.round} a quorum signed ${differs} than the node has shown since round ${since}`
  return { _tag: "Refused", reason }
}
