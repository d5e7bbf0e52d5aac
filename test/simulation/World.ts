import type * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Networks from "../support/Genesis.js"
import type { Chance } from "./Chance.js"
import type { Scheme, Signer } from "./Scheme.js"

export const ROUND_MS = 100
export const START = Natural.timestamp(1_700_000_000_000)

export interface Person {
  readonly name: string
  readonly signer: Signer
  readonly address: Address.Address
}

export interface World {
  readonly genesis: Genesis.Genesis
  /** Members of the first committee. */
  readonly validators: ReadonlyArray<Person>
  /** They have a machine and the coins for a large stake. */
  readonly newcomers: ReadonlyArray<Person>
  readonly people: ReadonlyArray<Person>
  /** Other keys of the adversaries, some with coins and some without an account. */
  readonly accomplices: ReadonlyArray<Person>
  /** They have some coins, and never pay. */
  readonly freeloaders: ReadonlyArray<Person>
}

export interface Size {
  readonly validators: number
  readonly newcomers: number
  readonly people: number
  readonly accomplices: number
  readonly freeloaders: number
}

const coins = (amount: number): Sats.Sats => Sats.make(amount * Sats.SATS_PER_COIN)

/** Epochs of 40 rounds and a collection depth of 10: every run closes epochs, collects and makes checkpoints. */
const protocol = {
  roundIntervalMs: ROUND_MS,
  epochRounds: 40,
  collectionDepthRounds: 10,
}

const parameters = {
  cooldownRounds: 40,
  votingPeriodRounds: 10,
  executionDelayRounds: 5,
  checkpointIntervalRounds: 10,
  maxActiveProposals: 3,
  accountFee: 1_100_000,
}

const personOf =
  (scheme: Scheme) =>
  (name: string): Person => {
    const signer = scheme.signerOf(name)
    return { name, signer, address: Address.fromPublicKey(signer.publicKey) }
  }

const named = (prefix: string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`)

export const make = (scheme: Scheme, chance: Chance, size: Size): World => {
  const person = personOf(scheme)
  const validators = named("v", size.validators).map(person)
  const newcomers = named("new", size.newcomers).map(person)
  const people = named("p", size.people).map(person)
  const accomplices = named("x", size.accomplices).map(person)
  const freeloaders = named("f", size.freeloaders).map(person)
  const isEqual = chance.percent(50)
  const stakes = validators.map(() => coins(isEqual ? 10_000 : chance.between(7_000, 13_000)))
  const allocations = [
    ...validators.map(({ address }) => ({ address, amount: coins(3_000) })),
    ...newcomers.map(({ address }) => ({ address, amount: coins(chance.between(5_000, 200_000)) })),
    ...people.map(({ address }) => ({ address, amount: coins(chance.between(2_500, 6_000)) })),
    ...accomplices.slice(2).map(({ address }, i) => ({ address, amount: coins(i === 0 ? 50 : 2_200) })),
    ...freeloaders.map(({ address }) => ({ address, amount: coins(20) })),
  ]
  const genesis = Networks.genesisOf({
    networkId: "udg-simulation" as NetworkId,
    time: START,
    allocations,
    validators: validators.map(({ signer }, i) => ({
      publicKey: signer.publicKey,
      stake: stakes[i] ?? coins(10_000),
      commissionPercent: chance.between(0, 30),
    })),
    council: people.slice(0, 3).map(({ address }) => address),
    treasury: coins(1_000),
    parameters,
    protocol,
  })
  return { genesis, validators, newcomers, people, accomplices, freeloaders }
}
