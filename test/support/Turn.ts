/**
 * Set up before each test file: the event loop gets a turn after each test. Vitest goes from one synchronous test to the
 * next without one, and takes a thread for dead that reads no message for a minute.
 */
import { afterEach } from "vitest"

// Tests may replace it, for a clock of their own.
const { setImmediate: turn } = globalThis

afterEach(() => new Promise<void>((resolve) => void turn(resolve)))
