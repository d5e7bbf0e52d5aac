/**
 * Secret keys in this browser, encrypted under one passphrase with the browser's PBKDF2 and AES-GCM. Without the
 * passphrase they are useless, and a forgotten one cannot be restored.
 */
import { type ReadonlySignal, signal } from "@preact/signals"
import { Option, Schema } from "effect"
import { InvalidInput, type SecretKey, secretKey } from "../../client/Wallet.js"

const Base64 = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9+/]+=*$/))

const Encrypted = {
  /** Shown while the vault is locked. */
  address: Schema.String,
  iv: Base64,
  content: Base64,
}

const Derivation = {
  iterations: Schema.Int.pipe(Schema.between(100_000, 10_000_000)),
  salt: Base64,
}

const Entry = Schema.Struct(Encrypted)
type Entry = typeof Entry.Type

const Sealed = Schema.Struct({
  version: Schema.Literal(2),
  ...Derivation,
  accounts: Schema.NonEmptyArray(Entry),
})
export type Sealed = typeof Sealed.Type

/** The format of older versions, which stored one key. */
const First = Schema.Struct({ version: Schema.Literal(1), ...Derivation, ...Encrypted })

/** OWASP's recommendation for PBKDF2 with SHA-256. */
const ITERATIONS = 600_000
const SALT_BYTES = 16
const IV_BYTES = 12

export const SHORTEST_PASSPHRASE = 10

/** Browsers offer cryptography only over https and on localhost. */
export const isPossible = (): boolean => isSecureContext && crypto.subtle !== undefined

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))

/** A derived key, which can encrypt further keys without another prompt. The browser never reveals it. */
export interface Lock {
  readonly iterations: number
  readonly salt: string
  readonly cipher: CryptoKey
}

const derive = async (passphrase: string, iterations: number, salt: string): Promise<Lock> => {
  const material = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(passphrase.normalize("NFKC")),
    "PBKDF2",
    false,
    ["deriveKey"],
  )
  const cipher = await crypto.subtle.deriveKey(
    { name: "PBKDF2", hash: "SHA-256", salt: fromBase64(salt), iterations },
    material,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  )
  return { iterations, salt, cipher }
}

/** Derives from a new passphrase. */
export const lockWith = (passphrase: string): Promise<Lock> =>
  derive(passphrase, ITERATIONS, toBase64(crypto.getRandomValues(new Uint8Array(SALT_BYTES))))

const sealed = async ({ cipher }: Lock, key: SecretKey, address: string): Promise<Entry> => {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const plain = new TextEncoder().encode(key.toSecretHex())
  const content = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, cipher, plain)
  return { address, iv: toBase64(iv), content: toBase64(new Uint8Array(content)) }
}

const opened = async ({ cipher }: Lock, { iv, content }: Entry): Promise<Option.Option<SecretKey>> => {
  try {
    const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv: fromBase64(iv) }, cipher, fromBase64(content))
    return Option.some(secretKey(new TextDecoder().decode(plain)))
  } catch {
    // AES-GCM authenticates, so a wrong passphrase and damaged bytes fail in the same way.
    return Option.none()
  }
}

export interface Opened {
  readonly lock: Lock
  /** The intact ones. */
  readonly keys: ReadonlyArray<SecretKey>
}

/** None if the passphrase opens no key. */
export const open = async (vault: Sealed, passphrase: string): Promise<Option.Option<Opened>> => {
  const lock = await derive(passphrase, vault.iterations, vault.salt)
  const found = await Promise.all(vault.accounts.map((entry) => opened(lock, entry)))
  const keys = found.flatMap(Option.toArray)
  return keys.length === 0 ? Option.none() : Option.some({ lock, keys })
}

const KEPT_AS = "udg-wallet"

const decode = Schema.decodeUnknownOption(Schema.parseJson(Schema.Union(Sealed, First)))

const inOneForm = (stored: Sealed | typeof First.Type): Sealed => {
  if (stored.version === 2) return stored
  const { iterations, salt, address, iv, content } = stored
  return { version: 2, iterations, salt, accounts: [{ address, iv, content }] }
}

/** What is stored this instant. The signal hears of other tabs a moment later. */
const stored = (): Option.Option<Sealed> =>
  Option.map(Option.flatMap(Option.fromNullable(localStorage.getItem(KEPT_AS)), decode), inOneForm)

const changing = signal(stored())

/** The stored keys; none if nothing is stored, or something that this program did not write. */
export const kept: ReadonlySignal<Option.Option<Sealed>> = changing

// Another tab has changed the keys. A null key stands for all of the storage.
addEventListener("storage", ({ key }) => {
  if (key === KEPT_AS || key === null) changing.value = stored()
})

const keep = (vault: Sealed): void => {
  localStorage.setItem(KEPT_AS, JSON.stringify(vault))
  changing.value = Option.some(vault)
}

const forget = (): void => {
  localStorage.removeItem(KEPT_AS)
  changing.value = Option.none()
}

/** Adds the key to the stored ones. */
export const add = async (lock: Lock, key: SecretKey, address: string): Promise<void> => {
  const entry = await sealed(lock, key, address)
  const before = Option.getOrUndefined(stored())
  const { iterations, salt } = lock
  // Another tab has replaced the vault, and one passphrase would no longer open all keys.
  if (before !== undefined && before.salt !== salt)
    throw new InvalidInput("the keys of this browser have changed: lock the wallet and unlock it first")
  const [first = entry, ...others] = (before?.accounts ?? []).filter((one) => one.address !== address)
  const accounts = [first, ...others, ...(first === entry ? [] : [entry])] as const
  keep({ version: 2, iterations, salt, accounts })
}

/** Deletes the keys of these addresses only: another tab can have stored more. */
export const remove = (addresses: ReadonlyArray<string>): void => {
  const before = Option.getOrUndefined(stored())
  const [first, ...others] = (before?.accounts ?? []).filter(({ address }) => !addresses.includes(address))
  if (before === undefined || first === undefined) forget()
  else keep({ ...before, accounts: [first, ...others] })
}
