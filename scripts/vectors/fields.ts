/** Epoch records and checkpoints with the field names of the HTTP interface. */
import type * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"

export const ofEpoch = ({ epoch, firstRound, seed, rules, members }: EpochRecord.EpochRecord) => ({
  epoch,
  first_round: firstRound,
  seed,
  rules: {
    epoch_rounds: rules.epochRounds,
    protocol_version: rules.protocolVersion,
    collection_depth_rounds: rules.collectionDepthRounds,
    checkpoint_interval_rounds: rules.checkpointIntervalRounds,
    round_reward: rules.roundReward,
    halving_rounds: rules.halvingRounds,
    treasury_percent: rules.treasuryPercent,
    council_percent: rules.councilPercent,
  },
  members: members.map(({ address, publicKey, weight }) => ({ address, pub_key: publicKey, weight })),
})

export const ofCheckpoint = (checkpoint: Checkpoint.Checkpoint) => ({
  epoch: checkpoint.epoch,
  round: checkpoint.round,
  commit_index: checkpoint.commitIndex,
  commit_hash: checkpoint.commitHash,
  effects_digest: checkpoint.effectsDigest,
  state_root: checkpoint.stateRoot,
  total_supply: checkpoint.totalSupply,
  next_epoch: checkpoint.nextEpoch && ofEpoch(checkpoint.nextEpoch),
  previous: checkpoint.previous,
})
