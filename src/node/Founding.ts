/** The genesis of a solo network: one validator, and on a testnet a faucet with a reserve. */
import { Either } from "effect"
import { randomBytes, toHex } from "#crypto"
import * as Address from "../protocol/Address.js"
import type { Timestamp } from "../protocol/Counter.js"
import * as Genesis from "../protocol/Genesis.js"
import type { PublicKey } from "../protocol/Keys.js"
import type { Mode, NetworkId } from "../protocol/Network.js"
import * as Parameters from "../protocol/Parameters.js"
import * as Sats from "../protocol/Sats.js"

const VALIDATOR_STAKE = Sats.make(100_000 * Sats.SATS_PER_COIN)
const FAUCET_RESERVE = Sats.make(5_000_000 * Sats.SATS_PER_COIN)
const NETWORK_ID_RANDOM_BYTES = 8

export interface Founders {
  readonly mode: Mode
  readonly time: Timestamp
  readonly roundIntervalMs: number
  readonly validator: PublicKey
  /** None on a mainnet. */
  readonly faucet: PublicKey | null
  /** Whatever is not as in any solo network. */
  readonly otherwise?: {
    readonly allocations?: ReadonlyArray<Genesis.Allocation>
    readonly parameters?: Partial<Parameters.Parameters>
    readonly protocol?: Partial<Genesis.Protocol>
  }
}

/** A name that no other network has, so that nothing signed here means anything elsewhere. */
const drawnNetworkId = (): NetworkId => `udg-solo-${toHex(randomBytes(NETWORK_ID_RANDOM_BYTES))}` as NetworkId

export const solo = ({ mode, time, roundIntervalMs, validator, faucet, otherwise = {} }: Founders): Genesis.Genesis => {
  const reserve = faucet && Address.fromPublicKey(faucet)
  const genesis = Genesis.make({
    networkId: drawnNetworkId(),
    mode,
    time,
    allocations: [
      ...(reserve === null ? [] : [{ address: reserve, amount: FAUCET_RESERVE }]),
      ...(otherwise.allocations ?? []),
    ],
    validators: [
      {
        publicKey: validator,
        stake: VALIDATOR_STAKE,
        commissionPercent: Genesis.standardProtocol.defaultCommissionPercent,
      },
    ],
    council: [],
    names: [],
    treasury: Sats.ZERO,
    faucet: reserve && { address: reserve, maxRequest: Genesis.standardFaucetMaxRequest },
    parameters: { ...Parameters.standard, ...otherwise.parameters },
    protocol: { ...Genesis.standardProtocol, roundIntervalMs, ...otherwise.protocol },
  })
  return Either.getOrThrow(genesis)
}
