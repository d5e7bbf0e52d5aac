/** The counters of a solo node that has executed nothing yet. */
import { Counters, type Surroundings } from "../../src/node/engine/Counters.js"
import { Participation } from "../../src/node/engine/Participation.js"
import type * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as FakeKeys from "../consensus/FakeKeys.js"

export const addressOf = (name: string): Address.Address => Address.fromPublicKey(FakeKeys.publicKeyOf(name))

export const recordOf = (names: ReadonlyArray<string>, changes: Partial<EpochRecord.EpochRecord> = {}) => ({
  epoch: Natural.epoch(1),
  firstRound: Natural.round(1),
  seed: Hash.ZERO,
  rules: {
    epochRounds: 20,
    protocolVersion: ProtocolVersion.FIRST,
    collectionDepthRounds: 3,
    checkpointIntervalRounds: 10,
    roundReward: Sats.make(100),
    halvingRounds: 1_000,
    treasuryPercent: 10,
    councilPercent: 0,
  },
  members: names.map((name) => ({
    address: addressOf(name),
    publicKey: FakeKeys.publicKeyOf(name),
    weight: Sats.make(1),
  })),
  ...changes,
})

export const countersOf = (changes: Partial<Surroundings> = {}): Counters =>
  new Counters({
    vertices: 0,
    participation: new Participation(null, recordOf(["ann"]), Natural.round(0)),
    isFresh: () => true,
    ...changes,
  })
