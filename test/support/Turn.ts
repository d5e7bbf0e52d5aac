/** Gives the event loop a turn after each test, which Vitest does not; set up before each test file. */
import { afterEach } from "vitest"

// Tests may replace it for their own clock.
const { setImmediate: turn } = globalThis

afterEach(() => new Promise<void>((resolve) => void turn(resolve)))
