/**
 * A secret key at rest, in the format of the command `udg`: encrypted with AES-256-GCM under a key that scrypt derives from a
 * passphrase. The fields beside the ciphertext are authenticated with it, so a modified file does not open.
 */
import { scryptAsync } from "@noble/hashes/scrypt.js"
import { Option } from "effect"
import { fromHex, randomBytes, toHex } from "#crypto"
import type { Form } from "../effect3/http/Outline.js"
import * as Binary from "../protocol/encoding/Binary.js"
import * as Keys from "../protocol/identity/Keys.js"
import type { SecretKey } from "../protocol/numbers/Kinds.js"
import { InvalidInput } from "./wire/Failures.js"
import * as Reader from "./wire/Reader.js"

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

const literal = (value: string | number): Form => ({ kind: "literal", values: [value] })
const hex = (bytes: number): Form => ({ kind: "hex", bytes, expected: `${bytes} bytes in hexadecimal` })

const costs = Array.from({ length: Math.log2(HIGHEST_COST / LOWEST_COST) + 1 }, (_, i) => LOWEST_COST * 2 ** i)

const form: Form = {
  kind: "record",
  fields: {
    udg_key: literal(1),
    public_key: hex(Keys.PUBLIC_KEY_BYTES),
    kdf: {
      kind: "record",
      fields: {
        name: literal("scrypt"),
        n: { kind: "literal", values: costs },
        r: literal(BLOCK_SIZE),
        p: literal(1),
        salt: hex(SALT_BYTES),
      },
    },
    cipher: { kind: "record", fields: { name: literal("aes-256-gcm"), nonce: hex(NONCE_BYTES) } },
    content: hex(Keys.SEED_BYTES + TAG_BYTES),
  },
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The content of a key file; none for any other text. */
export const parse = (text: string): Option.Option<Sealed> => {
  const reading = Reader.by(form, parsed(text), { unknownFields: "error", secret: () => undefined })
  // The form has the fields of the type, one by one.
  return "value" in reading ? Option.some(reading.value as Sealed) : Option.none()
}

export const print = (sealed: Sealed): string => `${JSON.stringify(sealed, null, 2)}\n`

type Header = Omit<Sealed, "content">

/** Everything but the ciphertext, in one form. */
export const authenticated = ({ public_key, kdf, cipher }: Header): Uint8Array =>
  Binary.utf8(`udg/key\0${[public_key, kdf.name, kdf.n, kdf.r, kdf.p, kdf.salt, cipher.name, cipher.nonce].join(" ")}`)

export const header = (publicKey: Keys.PublicKey, cost: number): Header => ({
  udg_key: 1,
  public_key: publicKey,
  kdf: { name: "scrypt", n: cost, r: BLOCK_SIZE, p: 1, salt: toHex(randomBytes(SALT_BYTES)) },
  cipher: { name: "aes-256-gcm", nonce: toHex(randomBytes(NONCE_BYTES)) },
})

/** Another keyboard may produce the same passphrase as different code points. */
export const normal = (passphrase: string): string => passphrase.normalize("NFKC")

const derived = async (passphrase: string, { n, r, p, salt }: Sealed["kdf"]): Promise<CryptoKey> => {
  const maxmem = 2 * 128 * r * n
  const key = await scryptAsync(normal(passphrase), fromHex(salt), { N: n, r, p, dkLen: KEY_BYTES, maxmem })
  return crypto.subtle.importKey("raw", new Uint8Array(key), "AES-GCM", false, ["encrypt", "decrypt"])
}

const cipherOf = (header: Header) => ({
  name: "AES-GCM",
  iv: new Uint8Array(fromHex(header.cipher.nonce)),
  additionalData: new Uint8Array(authenticated(header)),
})

/** The text of a key file, which only the passphrase opens: for a file, a database, the storage of a browser. */
export const seal = async (key: SecretKey, passphrase: string, cost = COST): Promise<string> => {
  const beside = header(key.publicKey, cost)
  const plain = new Uint8Array(fromHex(key.toSecretHex()))
  const content = await crypto.subtle.encrypt(cipherOf(beside), await derived(passphrase, beside.kdf), plain)
  return print({ ...beside, content: toHex(new Uint8Array(content)) })
}

/** The key in the text of a key file. */
export const open = async (text: string, passphrase: string): Promise<Keys.SecretKey> => {
  const sealed = Option.getOrUndefined(parse(text))
  if (sealed === undefined) throw new InvalidInput("not a key file of udg, or a damaged one")
  const key = await derived(passphrase, sealed.kdf)
  const content = new Uint8Array(fromHex(sealed.content))
  // A wrong passphrase and a modified file fail in the same way.
  const seed = await crypto.subtle.decrypt(cipherOf(sealed), key, content).catch(() => undefined)
  const found = seed && Option.getOrUndefined(Keys.SecretKey.fromSeed(new Uint8Array(seed)))
  if (found?.publicKey !== sealed.public_key) {
    throw new InvalidInput("the passphrase is wrong, or the key file was modified")
  }
  return found
}
