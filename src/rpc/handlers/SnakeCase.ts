/** Wire names: the node's `leaderRound` becomes `leader_round`. */

type Name<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Name<Rest>}`
  : Text

/** The same values under those names. The schema of the answer decides which are sent. */
export const named = <A extends object>(values: A): { readonly [K in keyof A & string as Name<K>]: A[K] } =>
  // The type system cannot follow the renaming.
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  ) as { readonly [K in keyof A & string as Name<K>]: A[K] }
