/** When the next checkpoint is due. Pure. */

/** Rounds until the checkpoint after the one at round `after`; 0 once it is due but not signed. */
export const left = (after: number, every: number, final: number): number => Math.max(0, after + every - final)
