/** When the next checkpoint is due. Pure. */

/** How many rounds are left until the checkpoint that follows the one at round `after`; 0 once it is due and not signed yet. */
export const left = (after: number, every: number, final: number): number => Math.max(0, after + every - final)
