/**
 * Strangers at a node's HTTP API, in a separate process: `node strangers.mjs URL ATTACK CONNECTIONS`. They read lines
 * `attack` or `rest`, and print after each what they sent since the last one.
 */
import { connect } from "node:net"
import { createInterface } from "node:readline"

const [url, attack, connections] = process.argv.slice(2)
const { hostname: host, port } = new URL(url)
/** The test uses another address of this machine, so the node sees another client. */
const FROM = "127.0.0.2"
/** The delay before a new connection. */
const AGAIN_MS = 100

const head = (path, more) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}\r\n`
const chunks = (size, count) => `${size.toString(16)}\r\n${" ".repeat(size)}\r\n`.repeat(count)
const endless = (path, piece) => ({ first: head(path, "Transfer-Encoding: chunked\r\n"), again: Buffer.from(piece) })

const FINE = chunks(1, 10_000)
const attacks = {
  /** The control: as many bytes as the next one. */
  "http-coarse": endless("/tx/submit", chunks(30_000, 2)),
  "http-pieces": endless("/tx/submit", FINE),
  "http-unwanted": endless("/nothing", FINE),
  "http-begun": {
    first: head(
      "/tx/submit",
      `${Array.from({ length: 2_600 }, (_, i) => `${i.toString(36)}:\r\n`).join("")}Content-Length: 9\r\n`,
    ),
  },
}
const { first, again } = attacks[attack]

const open = new Set()
const sent = { connections: 0, bytes: 0 }
let attacking = false

const begin = () => {
  if (!attacking) return
  const socket = connect({ host, port: Number(port), localAddress: FROM })
  open.add(socket)
  sent.connections++
  const pour = () => {
    let isTaken = true
    while (isTaken && again !== undefined && !socket.destroyed) {
      sent.bytes += again.length
      isTaken = socket.write(again)
    }
  }
  socket.on("connect", () => {
    sent.bytes += first.length
    socket.write(first)
    pour()
  })
  socket.on("drain", pour)
  socket.on("error", () => {})
  socket.resume()
  socket.on("close", () => {
    open.delete(socket)
    setTimeout(begin, AGAIN_MS)
  })
}

for await (const line of createInterface({ input: process.stdin })) {
  attacking = line === "attack"
  process.stdout.write(`${JSON.stringify(sent)}\n`)
  Object.assign(sent, { connections: 0, bytes: 0 })
  if (attacking) for (let i = 0; i < Number(connections); i++) begin()
  else for (const socket of open) socket.destroy()
}
