import type * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Chance } from "../simulation/Chance.js"
import type { Scheme } from "../simulation/Scheme.js"
import type { Person } from "../simulation/World.js"
import * as Networks from "../support/Genesis.js"

export const ROUND_MS = 100
export const START = Natural.timestamp(1_700_000_000_000)

export interface Cast {
  readonly genesis: Genesis.Genesis
  readonly honest: ReadonlyArray<Person>
  /** The adversary's validator, and small ones of the same committee; together less than a third of the weight. */
  readonly member: Person
  readonly crowd: ReadonlyArray<Person>
  /** An account of the adversary that can stake. */
  readonly newcomer: Person
  /** Accounts of the adversary: with coins, and unknown to the ledger. */
  readonly rich: ReadonlyArray<Person>
  readonly unknown: ReadonlyArray<Person>
  readonly victims: ReadonlyArray<Person>
}

const coins = (amount: number): Sats.Sats => Sats.make(amount * Sats.SATS_PER_COIN)

/** Everybody whose keys the adversary has. */
export const accomplices = ({ member, crowd, newcomer, rich, unknown }: Cast): ReadonlyArray<Person> => [
  member,
  ...crowd,
  newcomer,
  ...rich,
  ...unknown,
]

const parametersOf = (epochRounds: number) => ({
  cooldownRounds: epochRounds,
  votingPeriodRounds: epochRounds,
  executionDelayRounds: epochRounds,
  checkpointIntervalRounds: 10,
  // Honest validators do not vote. Proposals that the adversary could pass alone are not tested here.
  quorumPercent: 67,
})

export interface Size {
  /** Small members besides the one. */
  readonly crowd: number
  readonly epochRounds: number
}

export const make = (scheme: Scheme, chance: Chance, { crowd: crowded, epochRounds }: Size): Cast => {
  const person = (name: string): Person => {
    const signer = scheme.signerOf(name)
    return { name, signer, address: Address.fromPublicKey(signer.publicKey) }
  }
  const people = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => person(`${prefix}${i}`))
  const honest = people("v", 3)
  const member = person("member")
  const crowd = people("c", crowded)
  const newcomer = person("newcomer")
  const rich = people("rich", 3)
  const unknown = people("unknown", 4)
  const victims = people("victim", 2)
  const weights = chance.percent(50) ? [0, 0, 0] : [chance.between(0, 50_000), chance.between(0, 50_000), 0]
  const genesis = Networks.genesisOf({
    networkId: "udg-fuzz" as NetworkId,
    time: START,
    allocations: [
      ...[member, ...rich, ...victims].map(({ address }) => ({ address, amount: coins(5_000) })),
      { address: newcomer.address, amount: coins(10_000) },
    ],
    validators: [
      ...honest.map(({ signer }, i) => ({
        publicKey: signer.publicKey,
        stake: coins(200_000 + (weights[i] ?? 0)),
        commissionPercent: 10,
      })),
      { publicKey: member.signer.publicKey, stake: coins(crowded > 0 ? 20_000 : 200_000), commissionPercent: 0 },
      ...crowd.map(({ signer }) => ({ publicKey: signer.publicKey, stake: coins(2_000), commissionPercent: 100 })),
    ],
    council: [member.address],
    treasury: coins(1_000),
    parameters: parametersOf(epochRounds),
    protocol: { roundIntervalMs: ROUND_MS, epochRounds, collectionDepthRounds: 10 },
  })
  return { genesis, honest, member, crowd, newcomer, rich, unknown, victims }
}
