// Loaded into a node before its program: whatever it dials, it dials through the test's `Lines`, and says first who it is.
import { Socket } from "node:net"

const { UDG_TEST_LINES: port = "", UDG_TEST_NAME: name = "" } = process.env
const connect = Socket.prototype.connect

Socket.prototype.connect = function viaLines(...words) {
  // Node's own callers have put their arguments into a list already.
  const [options] = Array.isArray(words[0]) ? words[0] : words
  const target = options.port
  options.port = Number(port)
  this.once("connect", () => this.write(`${name} ${target}\n`))
  return connect.apply(this, words)
}
