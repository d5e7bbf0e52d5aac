/** The epoch that a genesis begins, and the parts of an epoch that derive from the previous one. */
import * as Binary from "../encoding/Binary.js"
import * as Address from "../identity/Address.js"
import * as Hash from "../identity/Hash.js"
import * as Natural from "../numbers/Natural.js"
import type { Parameters } from "../numbers/Parameters.js"
import * as EpochRecord from "./EpochRecord.js"
import * as Genesis from "./Genesis.js"
import type * as Protocol from "./Protocol.js"
import * as ProtocolVersion from "./ProtocolVersion.js"

/** The numbers an epoch freezes. */
export const rulesOf = (
  protocol: Protocol.Protocol,
  parameters: Parameters,
  protocolVersion: ProtocolVersion.ProtocolVersion,
): EpochRecord.Rules => ({
  epochRounds: protocol.epochRounds,
  protocolVersion,
  collectionDepthRounds: protocol.collectionDepthRounds,
  checkpointIntervalRounds: parameters.checkpointIntervalRounds,
  roundReward: protocol.roundReward,
  halvingRounds: protocol.halvingRounds,
  treasuryPercent: parameters.treasuryPercent,
  councilPercent: parameters.councilPercent,
})

/** H("udg/seed", previous seed ‖ closing commit hash). */
export const nextSeed = (previous: Hash.Hash, closing: Hash.Hash): Hash.Hash =>
  Hash.of(
    "udg/seed",
    Binary.encode((writer) => writer.hex(previous).hex(closing)),
  )

/** Follows from the genesis alone, without its state, so a client can trust it before it has asked anybody. */
export const of = (genesis: Genesis.Genesis): EpochRecord.EpochRecord => {
  const hash = Genesis.hash(genesis)
  return EpochRecord.made({
    epoch: Natural.epoch(1),
    firstRound: Natural.round(1),
    seed: nextSeed(hash, hash),
    rules: rulesOf(genesis.protocol, genesis.parameters, ProtocolVersion.FIRST),
    members: genesis.validators
      .map(({ publicKey, stake }) => ({ address: Address.fromPublicKey(publicKey), publicKey, weight: stake }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
  })
}
