/**
 * Gives the event loop a turn after each test; set up before each test file. Vitest runs synchronous tests without one,
 * and treats a thread that has not read a message for a minute as dead.
 */
import { afterEach } from "vitest"

// Tests may replace it for their own clock.
const { setImmediate: turn } = globalThis

afterEach(() => new Promise<void>((resolve) => void turn(resolve)))
