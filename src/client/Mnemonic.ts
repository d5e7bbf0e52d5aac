/**
 * A secret key as 24 words, for paper. The words encode the 32 bytes of the key itself, with the word list and checksum
 * of BIP-39, so every key has them. Unlike in wallets of other networks, no key is derived from them.
 */
import { entropyToMnemonic, mnemonicToEntropy } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english.js"
import { Option } from "effect"
import { fromHex } from "#crypto"
import * as Keys from "../protocol/identity/Keys.js"

export const WORDS = 24

/** Words per line, as people copy them. */
const A_LINE = 6

export const of = (key: Pick<Keys.SecretKey, "toSecretHex">): ReadonlyArray<string> =>
  entropyToMnemonic(fromHex(key.toSecretHex()), wordlist).split(" ")

export const lines = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from({ length: WORDS / A_LINE }, (_, i) => words.slice(i * A_LINE, (i + 1) * A_LINE).join(" "))

/** The output of `udg keys export --words` starts with this, which is no word of the list. */
const LABEL = /^words\s+/

export const wordsOf = (text: string): ReadonlyArray<string> =>
  text.trim().toLowerCase().replace(LABEL, "").split(/\s+/)

/** Whether the text is meant as words rather than as a key in hex. */
export const isMeant = (text: string): boolean => wordsOf(text).length > 1

export const complaint = "these are not the words of a key: one is missing, misspelt or in the wrong place"

/** None if a word is unknown or missing, or the checksum is wrong. */
export const parse = (text: string): Option.Option<Keys.SecretKey> => {
  const words = wordsOf(text)
  if (words.length !== WORDS) return Option.none()
  return Option.flatMap(
    Option.liftThrowable(() => mnemonicToEntropy(words.join(" "), wordlist))(),
    Keys.SecretKey.fromSeed,
  )
}
