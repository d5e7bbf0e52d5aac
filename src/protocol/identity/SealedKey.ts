/**
 * The text of an encrypted key file. The key is encrypted with AES-256-GCM under a key that scrypt derives from a
 * passphrase. The fields beside the ciphertext are authenticated with it, so a modified file does not open.
 * `client/KeyFile.ts` implements it for browsers and `storage/files/KeySealing.ts` for Node; each opens the other's
 * files.
 */
import { Option } from "effect"
import * as Binary from "../encoding/Binary.js"
import * as Hex from "../encoding/Hex.js"
import * as Keys from "./Keys.js"

export const KEY_BYTES = 32
export const SALT_BYTES = 16
export const NONCE_BYTES = 12
export const TAG_BYTES = 16

/** About half a second and 128 MiB per guess, as OWASP recommends for scrypt. */
export const COST = 2 ** 17
const LOWEST_COST = 2 ** 14
/** Keeps a file from exhausting this machine's memory. */
const HIGHEST_COST = 2 ** 20
export const BLOCK_SIZE = 8

export interface Sealed {
  readonly udg_key: 1
  readonly public_key: Keys.PublicKey
  readonly kdf: {
    readonly name: "scrypt"
    readonly n: number
    readonly r: typeof BLOCK_SIZE
    readonly p: 1
    readonly salt: string
  }
  readonly cipher: { readonly name: "aes-256-gcm"; readonly nonce: string }
  readonly content: string
}

const COSTS: ReadonlyArray<unknown> = Array.from(
  { length: Math.clz32(LOWEST_COST) - Math.clz32(HIGHEST_COST) + 1 },
  (_, i) => LOWEST_COST * 2 ** i,
)

type Fields = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** For a parsed text, whose values are never undefined. */
const isEmpty = (rest: Fields): boolean => JSON.stringify(rest) === "{}"

const isHex = (value: unknown, bytes: number): boolean => typeof value === "string" && Hex.isHex(value, bytes)

const isKdf = (value: unknown): boolean => {
  if (!isRecord(value)) return false
  const { name, n, r, p, salt, ...rest } = value
  const isKnown = name === "scrypt" && COSTS.includes(n) && r === BLOCK_SIZE && p === 1
  return isKnown && isHex(salt, SALT_BYTES) && isEmpty(rest)
}

const isCipher = (value: unknown): boolean => {
  if (!isRecord(value)) return false
  const { name, nonce, ...rest } = value
  return name === "aes-256-gcm" && isHex(nonce, NONCE_BYTES) && isEmpty(rest)
}

const isSealed = (value: unknown): value is Sealed => {
  if (!isRecord(value)) return false
  const { udg_key: version, public_key: publicKey, kdf, cipher, content, ...rest } = value
  const isWhole = isHex(publicKey, Keys.PUBLIC_KEY_BYTES) && isHex(content, Keys.SEED_BYTES + TAG_BYTES)
  return version === 1 && isWhole && isKdf(kdf) && isCipher(cipher) && isEmpty(rest)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The content of a key file; none for any other text. */
export const parse = (text: string): Option.Option<Sealed> => Option.liftPredicate(parsed(text), isSealed)

export const print = (sealed: Sealed): string => `${JSON.stringify(sealed, null, 2)}\n`

export type Header = Omit<Sealed, "content">

/** Salt and nonce in hexadecimal, drawn for this file. */
export const header = (
  publicKey: Keys.PublicKey,
  cost: number,
  { salt, nonce }: { readonly salt: string; readonly nonce: string },
): Header => ({
  udg_key: 1,
  public_key: publicKey,
  kdf: { name: "scrypt", n: cost, r: BLOCK_SIZE, p: 1, salt },
  cipher: { name: "aes-256-gcm", nonce },
})

/** Everything but the ciphertext, in one form. */
export const authenticated = ({ public_key, kdf, cipher }: Header): Uint8Array =>
  Binary.utf8(`udg/key\0${[public_key, kdf.name, kdf.n, kdf.r, kdf.p, kdf.salt, cipher.name, cipher.nonce].join(" ")}`)

/** Different keyboards can produce the same passphrase as different code points. */
export const normal = (passphrase: string): string => passphrase.normalize("NFKC")

/** Shorter passphrases can be guessed in an afternoon. */
export const SHORTEST_PASSPHRASE = 10

export const isLongEnough = (passphrase: string): boolean => [...passphrase].length >= SHORTEST_PASSPHRASE
