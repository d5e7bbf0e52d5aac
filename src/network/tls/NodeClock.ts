/** The process clock and Node's timers, unreferenced so that they do not keep the process alive. */
import { setTimeout as sleep } from "node:timers/promises"
import * as SpareTime from "../../turns/SpareTime.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import type { Clock } from "../peers/Clock.js"

export const nodeClock: Clock = {
  now: SteadyClock.now,
  spareNow: SpareTime.now,
  spareShare: SpareTime.share,
  wait: (ms) => sleep(ms, undefined, { ref: false }),
  after: (ms, act) => {
    const timer = setTimeout(act, ms).unref()
    return () => clearTimeout(timer)
  },
}
