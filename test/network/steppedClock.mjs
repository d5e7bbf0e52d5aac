// Loaded into a node before its program: its wall clock differs from the machine's by the milliseconds in a file, at any
// moment by those that stand there then. Timers and `performance` go on as they are, as when a person sets the time.
import { readFileSync } from "node:fs"

const { UDG_TEST_CLOCK: file = "" } = process.env
const { now } = Date
const LOOKED_EVERY_MS = 20
let offsetMs = 0

const look = () => {
  try {
    offsetMs = Number(readFileSync(file, "utf8"))
  } catch {
    offsetMs = 0
  }
}

look()
setInterval(look, LOOKED_EVERY_MS).unref()

Date.now = () => now() + offsetMs

globalThis.Date = class extends Date {
  constructor(...words) {
    if (words.length === 0) super(Date.now())
    else super(...words)
  }
}
