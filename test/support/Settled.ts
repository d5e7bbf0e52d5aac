/** Waits until a value stays unchanged for half a second, for networks that stop by themselves. */
import { setTimeout as sleep } from "node:timers/promises"

const READINGS = 10
const BETWEEN_MS = 50
const MOST_READINGS = 600

export const settled = async <A extends number | string>(read: () => Promise<A>): Promise<A> => {
  let value = await read()
  for (let same = 1, readings = 1; same < READINGS; readings++) {
    if (readings === MOST_READINGS) throw new Error(`still changes after ${MOST_READINGS} readings: ${value}`)
    await sleep(BETWEEN_MS)
    const next = await read()
    same = next === value ? same + 1 : 1
    value = next
  }
  return value
}
