/** The identity of a network: its mode, its id, and the prefix of its addresses. */
import { Schema } from "effect"
import type * as Kinds from "../numbers/Kinds.js"

export type Mode = "testnet" | "mainnet"

export const Mode: Schema.Schema<Mode> = /* @__PURE__ */ Schema.Literal("testnet", "mainnet")

/** The human-readable part of a bech32m address. */
export type AddressPrefix = Kinds.AddressPrefix

export const addressPrefix = (mode: Mode): AddressPrefix => (mode === "testnet" ? "tudg" : "udg")

/**
 * The network's own id. Transactions sign it, so a transaction of one network is invalid on another. That holds only
 * while no two networks share an id; `isDrawn` recognizes ids that cannot have been used before.
 */
export type NetworkId = Kinds.NetworkId

export const NETWORK_ID_BYTES = 32

const NETWORK_ID = /^[a-z0-9-]{1,32}$/

/** The random bytes appended to the name of a new network: 64 bits, so that no two networks share an id. */
export const DRAWN_BYTES = 8

const DRAWN = /^[a-z0-9-]+-[0-9a-f]{16}$/

/** The maximum length of NAME in an id of `NAME-<16 hex>`. */
export const NAME_CHARACTERS = NETWORK_ID_BYTES - 1 - 2 * DRAWN_BYTES

const NAME = /^[a-z0-9-]{1,15}$/

export const isName = (text: string): boolean => NAME.test(text)

/** Whether an id ends in random bytes drawn when the network was founded. */
export const isDrawn = (id: NetworkId): boolean => DRAWN.test(id)

/** The names of the networks that the program creates by default. */
export const OWN_NAMES = { solo: "udg-solo", local: "udg-local", fork: "udg-fork" } as const

export const isNetworkId = (text: string): text is NetworkId => NETWORK_ID.test(text)

const named = (): Schema.Schema<NetworkId, string> =>
  Schema.String.pipe(
    Schema.filter((text): text is NetworkId => isNetworkId(text), {
      identifier: "NetworkId",
      description: "the name of a network",
      jsonSchema: { type: "string", pattern: NETWORK_ID.source },
      message: () => "1 to 32 characters of a-z, 0-9 and -",
    }),
  )

export const NetworkId = /* @__PURE__ */ named()
