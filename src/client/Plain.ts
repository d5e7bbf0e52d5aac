/**
 * Arguments for a field that the node reads as `A`: strings and numbers need no brand, and a secret key can be its hex.
 */
import type * as Kinds from "../protocol/numbers/Kinds.js"

export type Plain<A> = A extends Kinds.SecretKey
  ? Kinds.SecretKey | string
  : A extends Kinds.Brand<string>
    ? Kinds.Unbranded<A>
    : A extends object
      ? { readonly [K in keyof A]: Plain<A[K]> }
      : A
