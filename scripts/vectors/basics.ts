/** Hashes, keys, addresses, names and amounts. */
import { bech32, bech32m } from "bech32"
import { Option } from "effect"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { AddressPrefix } from "../../src/protocol/identity/Network.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { alice, hex, people, requireRefused } from "./people.js"

const tags: ReadonlyArray<Hash.Tag> = [
  "udg/address",
  "udg/body",
  "udg/checkpoint-id",
  "udg/commit",
  "udg/genesis",
  "udg/leader",
  "udg/order",
  "udg/seed",
  "udg/tx-id",
  "udg/vertex-id",
]

export const hashes = tags.flatMap((tag) =>
  ["", "00", hex(Buffer.from("The quick brown fox jumps over the lazy dog"))].map((input) => ({
    tag,
    input,
    hash: Hash.of(tag, Buffer.from(input, "hex")),
  })),
)

export const keys = people.map(({ name, key, publicKey, address }) => ({
  name,
  secret_key: key.toSecretHex(),
  pub_key: publicKey,
  address,
  address_testnet: Address.toBech32(address, "tudg"),
  address_mainnet: Address.toBech32(address, "udg"),
  signatures: ["", "00", hex(Buffer.from("udg"))].map((message) => ({
    message,
    signature: key.sign(Buffer.from(message, "hex")),
  })),
}))

const modes = { tudg: "testnet", udg: "mainnet" } as const
const extremes = ["0".repeat(40), "f".repeat(40)] as ReadonlyArray<string> as ReadonlyArray<Address.Address>

const accepted = [...people.map(({ address }) => address), ...extremes].flatMap((address) =>
  (["tudg", "udg"] as const).flatMap((prefix) => {
    const text = Address.toBech32(address, prefix)
    return [address, address.toUpperCase(), text, text.toUpperCase()].map((form) => ({
      network: modes[prefix],
      text: form,
      address,
      bech32m: text,
    }))
  }),
)

const testnetForm = Address.toBech32(alice.address, "tudg")
const words = bech32m.toWords(Buffer.from(alice.address, "hex"))

const refused: ReadonlyArray<readonly [text: string, prefix: AddressPrefix, reason: string]> = [
  ["", "tudg", "not-an-address"],
  [alice.address.slice(1), "tudg", "not-an-address"],
  [`0x${alice.address}`, "tudg", "not-an-address"],
  [`${alice.address}00`, "tudg", "not-an-address"],
  ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "tudg", "not-an-address"],
  [testnetForm, "udg", "other-network"],
  [Address.toBech32(alice.address, "udg"), "tudg", "other-network"],
  [testnetForm.slice(0, -1), "tudg", "checksum"],
  [`${testnetForm.slice(0, -1)}${testnetForm.endsWith("q") ? "p" : "q"}`, "tudg", "checksum"],
  [`${testnetForm.slice(0, 4).toUpperCase()}${testnetForm.slice(4)}`, "tudg", "checksum"],
  [bech32.encode("tudg", words), "tudg", "checksum"],
  [bech32m.encode("tudg", words.slice(0, -1)), "tudg", "length"],
  [bech32m.encode("tudg", [...words, 0]), "tudg", "length"],
  [bech32m.encode("tudg", []), "tudg", "length"],
]

const names = {
  accepted: ["abc", "alice", "a-1", "0-0", "a--b", "abcdefghij0123456789"],
  rejected: ["", "ab", "abcdefghij01234567890", "-abc", "abc-", "Alice", "a_b", "a b", "äbc"],
}

export const addresses = () => {
  for (const [text, prefix] of refused) requireRefused(text, Address.parse(text, prefix))
  for (const name of names.rejected) requireRefused(name, Address.parseReference(`@${name}`, "tudg"))
  return {
    accepted,
    rejected: refused.map(([text, prefix, reason]) => ({ network: modes[prefix], text, reason })),
    names,
  }
}

const amountsInSats = [
  0, 1, 9, 10, 99_999_999, 100_000_000, 100_000_001, 1_250_000_000, 123_456_789_012, 200_000_000_000,
  999_999_999_999_999, 2_099_999_999_999_999, 2_100_000_000_000_000,
]
const amountTexts = ["", "-1", "+1", "1.", ".5", "1e3", "1,5", " 1", "0x1", "1.123456789", "21000000.00000001"]

export const amounts = () => {
  for (const text of amountTexts) {
    if (Option.isSome(Sats.parseCoin(text))) throw new Error(`an amount, although it should not be: ${text}`)
  }
  return {
    formatted: amountsInSats.map((sats) => {
      const amount = Sats.make(sats)
      return { sats, coin: Sats.toCoin(amount), text: Sats.formatCoin(amount) }
    }),
    rejected_texts: amountTexts,
    multiplied: [
      [2_100_000_000_000_000, 2_100_000_000_000_000, 2_100_000_000_000_000],
      [2_100_000_000_000_000, 33, 100],
      [10_000_000, 200_000_000_001, 600_000_000_002],
      [94_906_267, 94_906_267, 7],
      [0, 5, 3],
    ].map(([a = 0, b = 0, c = 1]) => ({ a, b, c, floor: Sats.mulDivFloor(a, b, c) })),
  }
}
