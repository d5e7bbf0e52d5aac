/** `AbortSignal` where the program has one, from Node's types or the DOM's: a program without either can be compiled too. */
// biome-ignore lint/style/noRestrictedGlobals: a type, which asks what the program has
export type Signal = typeof globalThis extends { readonly AbortSignal: { readonly prototype: infer S } } ? S : never
