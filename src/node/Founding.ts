/** The genesis of a new network: of one node for itself, or of several machines. */
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

/** Of the stakes, so that nobody who empties the faucet outvotes those who founded the network. */
const RESERVE_PERCENT = 10

export interface Several {
  readonly networkId: NetworkId
  readonly mode: Mode
  readonly time: Timestamp
  readonly roundIntervalMs: number
  readonly epochRounds: number
  readonly validators: ReadonlyArray<Genesis.FirstValidator>
  readonly allocations: ReadonlyArray<Genesis.Allocation>
  readonly council: ReadonlyArray<Address.Address>
  /** Whose account is the faucet's reserve. */
  readonly faucet: Address.Address | null
}

/** A network of several machines, or what stands against it. */
export const several = (founders: Several): Either.Either<Genesis.Genesis, Genesis.InvalidGenesis> => {
  const { faucet, roundIntervalMs, epochRounds, ...named } = founders
  const staked = founders.validators.reduce((total, { stake }) => total + stake, 0)
  const reserve = Sats.make(Math.floor((staked * RESERVE_PERCENT) / 100))
  return Genesis.make({
    ...named,
    allocations: faucet === null ? named.allocations : [...named.allocations, { address: faucet, amount: reserve }],
    names: [],
    treasury: Sats.ZERO,
    faucet: faucet && { address: faucet, maxRequest: Sats.min(reserve, Genesis.standardFaucetMaxRequest) },
    // Nobody's stake may be free before the epoch in which it works is over.
    parameters: { ...Parameters.standard, cooldownRounds: Math.max(Parameters.standard.cooldownRounds, epochRounds) },
    protocol: {
      ...Genesis.standardProtocol,
      roundIntervalMs,
      epochRounds,
      collectionDepthRounds: Math.min(Genesis.standardProtocol.collectionDepthRounds, epochRounds - 1),
    },
  })
}
