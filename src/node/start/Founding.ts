/** The genesis of a new network, solo or of several machines. */
import { Either } from "effect"
import { randomBytes, toHex } from "#crypto"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Protocol from "../../protocol/epoch/Protocol.js"
import * as Address from "../../protocol/identity/Address.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"
import * as Network from "../../protocol/identity/Network.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"

const VALIDATOR_STAKE = Sats.make(100_000 * Sats.SATS_PER_COIN)
/** For a network run by one person: too large for a load script to empty. */
export const FAUCET_RESERVE = Sats.make(5_000_000 * Sats.SATS_PER_COIN)

export interface Founders {
  readonly mode: Network.Mode
  readonly time: Timestamp
  readonly roundIntervalMs: number
  readonly validator: PublicKey
  /** None on a mainnet. */
  readonly faucet: PublicKey | null
  readonly otherwise?: {
    readonly allocations?: ReadonlyArray<Genesis.Allocation>
    readonly parameters?: Partial<Parameters.Parameters>
    readonly protocol?: Partial<Protocol.Protocol>
  }
}

/** A unique id, so that signatures are valid on no other network, not even on a second one with the same name. */
export const drawnNetworkId = (name: string): Network.NetworkId => {
  const id = `${name}-${toHex(randomBytes(Network.DRAWN_BYTES))}`
  if (Network.isName(name) && Network.isNetworkId(id)) return id
  throw new RangeError(`${name}: expected a name of 1 to ${Network.NAME_CHARACTERS} of a-z, 0-9 and -`)
}

export const solo = ({ mode, time, roundIntervalMs, validator, faucet, otherwise = {} }: Founders): Genesis.Genesis => {
  const reserve = faucet && Address.fromPublicKey(faucet)
  const protocol = { ...Protocol.every(roundIntervalMs), ...otherwise.protocol }
  const genesis = Genesis.make({
    networkId: drawnNetworkId(Network.OWN_NAMES.solo),
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
        commissionPercent: Protocol.standard.defaultCommissionPercent,
      },
    ],
    council: [],
    names: [],
    treasury: Sats.ZERO,
    faucet: reserve && { address: reserve, maxRequest: Genesis.standardFaucetMaxRequest },
    parameters: { ...Parameters.alone(protocol.epochRounds), ...otherwise.parameters },
    protocol,
  })
  return Either.getOrThrow(genesis)
}

/** A share of the stakes, so that emptying the faucet is not enough to outvote the founders. */
const RESERVE_PERCENT = 10

export interface Several {
  readonly networkId: Network.NetworkId
  readonly mode: Network.Mode
  readonly time: Timestamp
  readonly protocol: Protocol.Protocol
  readonly validators: ReadonlyArray<Genesis.FirstValidator>
  readonly allocations: ReadonlyArray<Genesis.Allocation>
  readonly council: ReadonlyArray<Address.Address>
  readonly faucet: Address.Address | null
  /** The faucet's reserve. Defaults to a tenth of the stakes. */
  readonly faucetReserve?: Sats.Sats
  readonly parameters: Parameters.Parameters
}

/** A network of several machines, or why it is invalid. */
export const several = (founders: Several): Either.Either<Genesis.Genesis, Genesis.InvalidGenesis> => {
  const { faucet, faucetReserve, protocol, ...named } = founders
  const { epochRounds } = protocol
  const staked = founders.validators.reduce((total, { stake }) => total + stake, 0)
  const reserve = faucetReserve ?? Sats.make(Math.floor((staked * RESERVE_PERCENT) / 100))
  return Genesis.make({
    ...named,
    allocations: faucet === null ? named.allocations : [...named.allocations, { address: faucet, amount: reserve }],
    names: [],
    treasury: Sats.ZERO,
    faucet: faucet && { address: faucet, maxRequest: Sats.min(reserve, Genesis.standardFaucetMaxRequest) },
    protocol: { ...protocol, collectionDepthRounds: Math.min(protocol.collectionDepthRounds, epochRounds - 1) },
  })
}
