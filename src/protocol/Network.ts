/** Which network something belongs to: its mode, its name, and the two letters in front of its addresses. */
import { type Brand, Schema } from "effect"

export type Mode = "testnet" | "mainnet"

export const Mode: Schema.Schema<Mode> = Schema.Literal("testnet", "mainnet")

/** The human-readable part of a bech32m address. */
export type AddressPrefix = "tudg" | "udg"

export const addressPrefix = (mode: Mode): AddressPrefix => (mode === "testnet" ? "tudg" : "udg")

/** The network's own name. It is part of what a transaction signs, so nothing replays on another network. */
export type NetworkId = string & Brand.Brand<"NetworkId">

export const NETWORK_ID_BYTES = 32

const NETWORK_ID = /^[a-z0-9-]{1,32}$/

export const isNetworkId = (text: string): text is NetworkId => NETWORK_ID.test(text)

export const NetworkId: Schema.Schema<NetworkId, string> = Schema.String.pipe(
  Schema.filter((text): text is NetworkId => isNetworkId(text), {
    identifier: "NetworkId",
    description: "the name of a network",
    jsonSchema: { type: "string", pattern: NETWORK_ID.source },
    message: () => "1 to 32 characters of a-z, 0-9 and -",
  }),
)
