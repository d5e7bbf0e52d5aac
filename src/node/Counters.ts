/** Figures that are counted as things happen: the specified ones since this process began, and what is there now. */
export class Counters {
  checkpointsProduced = 0
  checkpointProductionMs = 0
  checkpointBytes = 0
  checkpointsCosigned = 0
  checkpointQuorums = 0
  checkpointValidationFailures = 0
  fastSyncs = 0
  checkpointsPersisted = 0
  /** On the disk or on the way there, of all epochs. */
  vertices = 0
  /** Connected, as the network said last. */
  peers = 0
}
