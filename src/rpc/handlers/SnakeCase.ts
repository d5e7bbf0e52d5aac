/** The names of the wire: what the node calls `leaderRound` is `leader_round` there. */

type Name<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Name<Rest>}`
  : Text

/** The same values under those names. The schema of the answer decides which of them are sent. */
export const named = <A extends object>(values: A): { readonly [K in keyof A & string as Name<K>]: A[K] } =>
  // No type follows names as they are made.
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  ) as { readonly [K in keyof A & string as Name<K>]: A[K] }
