// Loaded into a node by --import: its wall clock is as far off as the file says that UDG_CLOCK_FILE names, in milliseconds,
// read again every 50 ms. The steady clock is left alone.
import { readFileSync } from "node:fs"

const file = process.env.UDG_CLOCK_FILE
const real = Date.now
let aheadMs = 0

const read = () => {
  const text = readFileSync(file, "utf8")
  if (text !== "") aheadMs = Number(text)
}

read()
setInterval(read, 50).unref()
Date.now = () => real() + aheadMs
