/**
 * Seals and opens the text of an encrypted key file (`protocol/identity/SealedKey.ts`) with Web Crypto, as in browsers.
 */
import { scryptAsync } from "@noble/hashes/scrypt.js"
import { Option } from "effect"
import { fromHex, randomBytes, toHex } from "#crypto"
import * as Keys from "../protocol/identity/Keys.js"
import * as SealedKey from "../protocol/identity/SealedKey.js"
import type { SecretKey } from "../protocol/numbers/Kinds.js"
import { InvalidInput } from "./wire/Failures.js"

const derived = async (passphrase: string, { n, r, p, salt }: SealedKey.Sealed["kdf"]): Promise<CryptoKey> => {
  const options = { N: n, r, p, dkLen: SealedKey.KEY_BYTES, maxmem: 2 * 128 * r * n }
  const key = await scryptAsync(SealedKey.normal(passphrase), fromHex(salt), options)
  return crypto.subtle.importKey("raw", new Uint8Array(key), "AES-GCM", false, ["encrypt", "decrypt"])
}

const cipherOf = (header: SealedKey.Header) => ({
  name: "AES-GCM",
  iv: new Uint8Array(fromHex(header.cipher.nonce)),
  additionalData: new Uint8Array(SealedKey.authenticated(header)),
})

const drawn = (bytes: number): string => toHex(randomBytes(bytes))

/** The text of a key file, encrypted with the passphrase: for a file, a database or a browser's storage. */
export const seal = async (key: SecretKey, passphrase: string, cost = SealedKey.COST): Promise<string> => {
  const fresh = { salt: drawn(SealedKey.SALT_BYTES), nonce: drawn(SealedKey.NONCE_BYTES) }
  const beside = SealedKey.header(key.publicKey, cost, fresh)
  const plain = new Uint8Array(fromHex(key.toSecretHex()))
  const content = await crypto.subtle.encrypt(cipherOf(beside), await derived(passphrase, beside.kdf), plain)
  return SealedKey.print({ ...beside, content: toHex(new Uint8Array(content)) })
}

export const open = async (text: string, passphrase: string): Promise<Keys.SecretKey> => {
  const sealed = Option.getOrUndefined(SealedKey.parse(text))
  if (sealed === undefined) throw new InvalidInput("not a udg key file, or damaged")
  const key = await derived(passphrase, sealed.kdf)
  const content = new Uint8Array(fromHex(sealed.content))
  // A wrong passphrase and a modified file are indistinguishable.
  const seed = await crypto.subtle.decrypt(cipherOf(sealed), key, content).catch(() => undefined)
  const found = seed && Option.getOrUndefined(Keys.SecretKey.fromSeed(new Uint8Array(seed)))
  if (found?.publicKey !== sealed.public_key) {
    throw new InvalidInput("the passphrase is wrong, or the key file was modified")
  }
  return found
}
