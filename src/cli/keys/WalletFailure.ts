import { Data } from "effect"

/** Reasons for which a wallet command fails, each with its exit code for scripts. */
export const kinds = {
  key: { exitCode: 2, about: "the key file or its passphrase is missing or wrong" },
  node: { exitCode: 3, about: "no node answers, or its answer is wrong" },
  refused: { exitCode: 4, about: "the node refused" },
  open: { exitCode: 5, about: "sent, but not known to be final" },
  notApplied: { exitCode: 6, about: "final, but only the fee was taken" },
  notFound: { exitCode: 7, about: "not found" },
  unproven: { exitCode: 8, about: "an answer or a signature is not valid" },
} as const

export type Kind = keyof typeof kinds

export class WalletFailure extends Data.TaggedError("WalletFailure")<{
  readonly kind: Kind
  readonly message: string
}> {
  get exitCode(): number {
    return kinds[this.kind].exitCode
  }
}

export const fail = (kind: Kind, message: string): WalletFailure => new WalletFailure({ kind, message })
