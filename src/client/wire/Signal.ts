/** `AbortSignal` if the program has its type, from Node or the DOM; programs without either compile too. */
// biome-ignore lint/style/noRestrictedGlobals: a type, which asks what the program has
export type Signal = typeof globalThis extends { readonly AbortSignal: { readonly prototype: infer S } } ? S : never
