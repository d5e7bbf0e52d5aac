// Loaded into a node before its program, with --import. Its wall clock is ahead by the milliseconds in the file that
// UDG_CLOCK_FILE names, read every 20 ms. Timers and `performance` stay unchanged, as when a person sets the time.
import { existsSync, readFileSync } from "node:fs"

const { UDG_CLOCK_FILE: file = "" } = process.env
const { now } = Date
const READ_EVERY_MS = 20
let aheadMs = 0

const read = () => {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "0"
  // Empty while it is being written.
  if (text !== "") aheadMs = Number(text)
}

read()
setInterval(read, READ_EVERY_MS).unref()

Date.now = () => now() + aheadMs

globalThis.Date = class extends Date {
  constructor(...words) {
    if (words.length === 0) super(Date.now())
    else super(...words)
  }
}
