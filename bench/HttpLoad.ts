/** A load on an HTTP server from a separate process: keep-alive connections with one request at a time. */
import { fork } from "node:child_process"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import type { Transfers } from "./Transfers.js"

export interface Load {
  readonly port: number
  /** Complete requests as sent on the wire, repeated; or transfers, each sent until it is accepted. */
  readonly requests: ReadonlyArray<string> | Transfers
  readonly connections: number
  readonly milliseconds: number
}

export interface Outcome {
  readonly answers: number
  readonly perSecond: number
  readonly p99Ms: number
}

const FULL_PAUSE_MS = 250

/** The next request; undefined when all are sent. */
interface Source {
  readonly next: () => string | undefined
  /** Returns a request that the server could not take yet. */
  readonly again: (request: string) => void
}

const cycle = (requests: ReadonlyArray<string>): Source => {
  let i = 0
  return { next: () => requests[i++ % requests.length], again: () => {} }
}

const once = (requests: ReadonlyArray<string>): Source => {
  const waiting: Array<string> = []
  let i = 0
  return { next: () => waiting.shift() ?? requests[i++], again: (request) => waiting.push(request) }
}

/** The complete response in a text, or how much is missing. */
const isComplete = (text: string): boolean => {
  const end = text.indexOf("\r\n\r\n")
  return end >= 0 && text.length >= end + 4 + Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0)
}

/** The part of a request to repeat because the server was full; undefined if it took everything. */
const refusedOf = (request: string, answer: string): string | undefined => {
  if (answer.startsWith("HTTP/1.1 503")) return request
  if (!answer.includes('"status_code":503')) return undefined
  const bodyOf = (text: string): ReadonlyArray<unknown> => JSON.parse(text.slice(text.indexOf("\r\n\r\n")))
  const answers = bodyOf(answer) as ReadonlyArray<{ readonly status_code: number }>
  const left = JSON.stringify(bodyOf(request).filter((_, i) => answers[i]?.status_code === 503))
  const head = request.slice(0, request.indexOf("\r\n\r\n"))
  return `${head.replace(/Content-Length: \d+/, `Content-Length: ${left.length}`)}\r\n\r\n${left}`
}

const isList = (requests: Load["requests"]): requests is ReadonlyArray<string> => Array.isArray(requests)

/** Loaded only for transfers, because it loads a whole node and takes longer to start than the load runs. */
const sourceOf = async (requests: Load["requests"]): Promise<Source> =>
  isList(requests) ? cycle(requests) : once((await import("./Transfers.js")).requests(requests))

const drive = ({ port, connections, milliseconds }: Load, source: Source): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const times: Array<number> = []
    const began = performance.now()
    let open = connections
    const close = (): void => {
      open -= 1
      if (open > 0) return
      times.sort((a, b) => a - b)
      resolve({
        answers: times.length,
        perSecond: (times.length / (performance.now() - began)) * 1_000,
        p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
      })
    }
    for (let i = 0; i < connections; i++) {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      let received = ""
      let sent = ""
      let sentAt = 0
      const send = (): void => {
        const request = performance.now() - began < milliseconds ? source.next() : undefined
        if (request === undefined) {
          socket.destroy()
          close()
          return
        }
        sent = request
        received = ""
        sentAt = performance.now()
        socket.write(request)
      }
      socket.setEncoding("latin1")
      socket.on("connect", send)
      socket.on("error", reject)
      socket.on("data", (chunk: string) => {
        received += chunk
        if (!isComplete(received)) return
        const refused = refusedOf(sent, received)
        if (refused !== undefined) {
          source.again(refused)
          setTimeout(send, FULL_PAUSE_MS)
          return
        }
        if (!received.startsWith("HTTP/1.1 200")) {
          reject(new Error(received.slice(0, 800)))
          return
        }
        times.push(performance.now() - sentAt)
        send()
      })
    }
  })

const self = fileURLToPath(import.meta.url)

const [, program, load] = process.argv
if (program === self && load !== undefined && process.send !== undefined) {
  const asked = JSON.parse(load) as Load
  const source = await sourceOf(asked.requests)
  process.send("begins")
  const outcome = await drive(asked, source)
  process.send(outcome, () => process.disconnect())
}

/** Runs the load in another process, so that it does not share the server's event loop. */
export const run = (load: Load, begins = (): void => {}): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = fork(self, [JSON.stringify(load)], { execArgv: process.execArgv })
    child.on("message", (said) => (said === "begins" ? begins() : resolve(said as Outcome)))
    child.once("exit", (code) => reject(new Error(`the load ended with code ${code} and no outcome`)))
  })
