// Loaded into a node before its program. Every connection it dials goes through the test's `Lines`, and begins with the
// node's name.
import { Socket } from "node:net"

const { UDG_TEST_LINES: port = "", UDG_TEST_NAME: name = "" } = process.env
const connect = Socket.prototype.connect

Socket.prototype.connect = function viaLines(...words) {
  // Internal callers of Node pass their arguments as a list.
  const [options] = Array.isArray(words[0]) ? words[0] : words
  const target = options.port
  options.port = Number(port)
  this.once("connect", () => this.write(`${name} ${target}\n`))
  return connect.apply(this, words)
}
