/** The specified figures that only grow or are overwritten, since this process began. */
export class Counters {
  checkpointsProduced = 0
  checkpointProductionMs = 0
  checkpointBytes = 0
  checkpointsCosigned = 0
  checkpointQuorums = 0
  checkpointValidationFailures = 0
  fastSyncs = 0
  checkpointsPersisted = 0
}
