/**
 * Whole milliseconds that pass at an even pace. It shows the wall clock's time at the start of the process, and is never set
 * after that: every wait and every limit of the network runs on it. It may stop while the machine is suspended.
 */
export const now = (): number => Math.floor(performance.timeOrigin + performance.now())
