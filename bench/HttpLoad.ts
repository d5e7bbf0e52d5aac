/** A load on an HTTP server from a process of its own: keep-alive connections, one request at a time on each. */
import { fork } from "node:child_process"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"

export interface Load {
  readonly port: number
  /** The whole request as it goes over the wire. */
  readonly request: string
  readonly connections: number
  readonly milliseconds: number
}

export interface Outcome {
  readonly perSecond: number
  readonly p99Ms: number
}

/** Finds the end of each answer by its Content-Length; every answer of a load is alike, so the first one tells. */
const drive = ({ port, request, connections, milliseconds }: Load): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const times: Array<number> = []
    const end = performance.now() + milliseconds
    let open = connections
    let answerBytes = 0
    for (let i = 0; i < connections; i++) {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      let received = 0
      let sentAt = 0
      const send = (): void => {
        received = 0
        sentAt = performance.now()
        socket.write(request)
      }
      socket.on("connect", send)
      socket.on("error", reject)
      socket.on("data", (chunk) => {
        if (answerBytes === 0) {
          const text = chunk.toString("latin1")
          if (!text.startsWith("HTTP/1.1 200")) return reject(new Error(text.slice(0, 400)))
          answerBytes = text.indexOf("\r\n\r\n") + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1])
        }
        received += chunk.length
        if (received < answerBytes) return
        const now = performance.now()
        times.push(now - sentAt)
        if (now < end) return send()
        socket.destroy()
        open -= 1
        if (open > 0) return
        times.sort((a, b) => a - b)
        resolve({
          perSecond: (times.length / milliseconds) * 1_000,
          p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
        })
      })
    }
  })

const self = fileURLToPath(import.meta.url)

const [, program, load] = process.argv
if (program === self && load !== undefined && process.send !== undefined) {
  const outcome = await drive(JSON.parse(load) as Load)
  process.send(outcome, () => process.disconnect())
}

/** Runs the load beside this process, so that it does not share the server's event loop. */
export const run = (load: Load): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = fork(self, [JSON.stringify(load)], { execArgv: process.execArgv })
    child.once("message", (outcome) => resolve(outcome as Outcome))
    child.once("exit", (code) => reject(new Error(`the load ended with code ${code} and no outcome`)))
  })
