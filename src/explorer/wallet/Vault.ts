/**
 * A secret key stored in this browser, encrypted under a passphrase with the browser's own PBKDF2 and AES-GCM. Without the
 * passphrase it is useless, and nobody can restore a forgotten one.
 */
import { Option, Schema } from "effect"
import { type SecretKey, secretKey } from "../../client/Wallet.js"

const Base64 = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9+/]+=*$/))

export const Sealed = Schema.Struct({
  version: Schema.Literal(1),
  /** Shown while it is locked. */
  address: Schema.String,
  iterations: Schema.Int.pipe(Schema.between(100_000, 10_000_000)),
  salt: Base64,
  iv: Base64,
  content: Base64,
})
export type Sealed = typeof Sealed.Type

/** As OWASP recommends for PBKDF2 with SHA-256. */
const ITERATIONS = 600_000
const SALT_BYTES = 16
const IV_BYTES = 12

export const SHORTEST_PASSPHRASE = 10

/** Browsers offer cryptography only over https and on localhost. */
export const isPossible = (): boolean => isSecureContext && crypto.subtle !== undefined

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))

const keyFrom = async (passphrase: string, salt: Uint8Array<ArrayBuffer>, iterations: number): Promise<CryptoKey> => {
  const material = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(passphrase.normalize("NFKC")),
    "PBKDF2",
    false,
    ["deriveKey"],
  )
  return crypto.subtle.deriveKey(
    { name: "PBKDF2", hash: "SHA-256", salt, iterations },
    material,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  )
}

export const seal = async (key: SecretKey, address: string, passphrase: string): Promise<Sealed> => {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const plain = new TextEncoder().encode(key.toSecretHex())
  const content = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv },
    await keyFrom(passphrase, salt, ITERATIONS),
    plain,
  )
  return {
    version: 1,
    address,
    iterations: ITERATIONS,
    salt: toBase64(salt),
    iv: toBase64(iv),
    content: toBase64(new Uint8Array(content)),
  }
}

/** The key; none if the passphrase is wrong. */
export const open = async (sealed: Sealed, passphrase: string): Promise<Option.Option<SecretKey>> => {
  const key = await keyFrom(passphrase, fromBase64(sealed.salt), sealed.iterations)
  try {
    const iv = fromBase64(sealed.iv)
    const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, fromBase64(sealed.content))
    return Option.some(secretKey(new TextDecoder().decode(plain)))
  } catch {
    // AES-GCM authenticates: a wrong passphrase and damaged bytes fail in the same way.
    return Option.none()
  }
}

const KEPT_AS = "udg-wallet"

const decode = Schema.decodeUnknownOption(Schema.parseJson(Sealed))

/** The key stored in this browser; none if nothing is stored, or something that this program did not write. */
export const kept = (): Option.Option<Sealed> =>
  Option.flatMap(Option.fromNullable(localStorage.getItem(KEPT_AS)), decode)

export const keep = (sealed: Sealed): void => localStorage.setItem(KEPT_AS, JSON.stringify(sealed))

export const forget = (): void => localStorage.removeItem(KEPT_AS)
