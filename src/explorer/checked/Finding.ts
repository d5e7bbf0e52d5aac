/** What a check says of the balance that a node shows. Pure. */
import type { Address } from "../../protocol/identity/Address.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"

/** What the node says of the account. */
export interface Claim {
  readonly address: Address
  readonly balance: Sats
  readonly nonce: Nonce
}

/** A claim that the node has made since this round was final, at the latest. */
export interface Standing {
  readonly claim: Claim
  readonly since: number
}

/** What a quorum signed. */
export interface Signed extends Claim {
  readonly round: number
  /** None under the checkpoint that is trusted from the outset. */
  readonly signers: { readonly by: number; readonly of: number } | null
}

export type Finding =
  | { readonly _tag: "Proven"; readonly signed: Signed }
  /** No honest node answers so. */
  | { readonly _tag: "Refused"; readonly reason: string }
  /** The node says that it is one of another network than the trusted one. */
  | { readonly _tag: "OtherNetwork" }
  /** Nothing is proven, and nothing disproven. */
  | { readonly _tag: "Unchecked"; readonly reason: string }

export const isSame = (a: Claim, b: Claim): boolean =>
  a.address === b.address && a.balance === b.balance && a.nonce === b.nonce

/** The claim with the round since which it stands. `final` is the last finalized round, asked for after the claim was made. */
export const standing = (before: Standing | undefined, claim: Claim, final: number): Standing =>
  before !== undefined && isSame(before.claim, claim) ? before : { claim, since: final }

/**
 * Compares what was signed with what the node said before its checkpoint, and said again after it. An account's balance falls only
 * by its own transactions, which count its nonce up. So if both are what they were, they were so in between, too.
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
