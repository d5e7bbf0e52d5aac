/**
 * Loaded before Vitest in each of its processes and threads. Vitest ends the run if an answer of its main process is not
 * read within a minute, which a test that computes for longer prevents. So that timer, and no other, waits for an hour.
 */
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

const { setTimeout } = globalThis

const patient = new Proxy(setTimeout, {
  apply(target, self, [callback, ms, ...values]) {
    const isVitest = ms === MINUTE_MS && String(callback).includes("onTimeoutError")
    // Vitest has kept this function since it was loaded, so that others can have their own back.
    if (isVitest && globalThis.setTimeout === patient) globalThis.setTimeout = target
    return Reflect.apply(target, self, [callback, isVitest ? HOUR_MS : ms, ...values])
  },
})

globalThis.setTimeout = patient
