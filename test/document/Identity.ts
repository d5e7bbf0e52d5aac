/** Keys, signatures, addresses, names and amounts. */
import * as ed25519 from "@noble/ed25519"
import { sha512 } from "@noble/hashes/sha2.js"
import { ascii, bytes, H, hex, Refused } from "./Bytes.js"

ed25519.hashes.sha512 = sha512

export const publicKeyOf = (seed: string): string => hex(ed25519.getPublicKey(bytes(seed)))
export const sign = (seed: string, message: Uint8Array): string => hex(ed25519.sign(message, bytes(seed)))

/** ZIP-215. */
export const isValid = (key: string, message: Uint8Array, signature: string): boolean =>
  ed25519.verify(bytes(signature), message, bytes(key), { zip215: true })

/** The domain and a zero byte, which precede the signed bytes. */
export const domain = (name: string): Uint8Array => ascii(`${name}\0`)

export const addressOf = (key: string): string => H("udg/address", bytes(key)).slice(0, 40)

export type Network = "testnet" | "mainnet"

const PART: { readonly [N in Network]: string } = { testnet: "tudg", mainnet: "udg" }
const CHARACTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
const BECH32M = 0x2bc830a3
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]

/** BIP-173's checksum. */
const polymod = (values: ReadonlyArray<number>): number =>
  values.reduce((checksum, value) => {
    const top = checksum >>> 25
    const shifted = ((checksum & 0x1ffffff) << 5) ^ value
    return GENERATOR.reduce((sum, term, i) => ((top >>> i) & 1 ? sum ^ term : sum), shifted)
  }, 1)

const expanded = (part: string): ReadonlyArray<number> => {
  const codes = [...part].map((character) => character.charCodeAt(0))
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
}

const bitsOf = (values: Iterable<number>, width: number): string =>
  [...values].map((value) => value.toString(2).padStart(width, "0")).join("")

export const bech32m = (address: string, network: Network): string => {
  const words = (bitsOf(bytes(address), 8).match(/.{5}/g) ?? []).map((bits) => Number.parseInt(bits, 2))
  const part = PART[network]
  const sum = polymod([...expanded(part), ...words, 0, 0, 0, 0, 0, 0]) ^ BECH32M
  const checksum = [0, 1, 2, 3, 4, 5].map((i) => (sum >>> (5 * (5 - i))) & 31)
  return `${part}1${[...words, ...checksum].map((word) => CHARACTERS[word]).join("")}`
}

const fromBech32m = (text: string, network: Network): string => {
  const lower = text.toLowerCase()
  if (text !== lower && text !== text.toUpperCase()) throw new Refused("checksum")
  const at = lower.lastIndexOf("1")
  const part = lower.slice(0, at)
  const words = [...lower.slice(at + 1)].map((character) => CHARACTERS.indexOf(character))
  if (words.includes(-1) || polymod([...expanded(part), ...words]) !== BECH32M) throw new Refused("checksum")
  if (part !== PART[network]) throw new Refused("other-network")
  const bits = bitsOf(words.slice(0, -6), 5)
  if (bits.length !== 160) throw new Refused("length")
  return hex(Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2)))
}

/** An address in any of its forms, or a rejection with the document's reason. */
export const parseAddress = (text: string, network: Network): string => {
  if (/^[0-9a-f]{40}$/i.test(text)) return text.toLowerCase()
  if (/^t?udg1/i.test(text)) return fromBech32m(text, network)
  throw new Refused("not-an-address")
}

export const isName = (text: string): boolean => /^[a-z0-9-]{3,20}$/.test(text) && !/^-|-$/.test(text)

/** Sats as coins, in the form of `_coin` fields. */
export const coins = (sats: number): string => {
  const digits = String(sats).padStart(9, "0")
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, "")
}

/** ⌊a · b ÷ c⌋. */
export const mulDiv = (a: number, b: number, c: number): number => Number((BigInt(a) * BigInt(b)) / BigInt(c))
