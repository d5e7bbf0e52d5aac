/** The program of a thread that checks signatures. `SignatureThreads` is the other side. */
import * as os from "node:os"
import { parentPort } from "node:worker_threads"
import { verifyNative, verifyZip215 } from "#crypto"
import * as CheckBatch from "./CheckBatch.js"

export interface Request {
  readonly count: number
  /** `count` checks, as `CheckBatch` packs them. */
  readonly bytes: ArrayBuffer
  /** By the rule for vertices, of one vertex: with the first no it is invalid as a whole, and the rest is not judged. */
  readonly isByZip215: boolean
}

/** 1 for each that holds. */
export type Reply = Uint8Array<ArrayBuffer>

// Where every core is wanted, rounds go first: what is checked here can wait for them, but not they for it. On Linux this
// is the thread's own priority, elsewhere it would be the whole program's. Who may not set it, or has a lower one, keeps his.
const below = os.constants.priority.PRIORITY_BELOW_NORMAL
try {
  if (os.platform() === "linux" && os.getPriority() < below) os.setPriority(below)
} catch {
  // It works at any priority.
}

const replyTo = ({ count, bytes, isByZip215 }: Request): Reply => {
  const verify = isByZip215 ? verifyZip215 : verifyNative
  const results = new Uint8Array(count)
  let i = 0
  for (const { signature, message, publicKey } of CheckBatch.unpack(bytes)) {
    const holds = verify(signature, message, publicKey)
    results[i++] = holds ? 1 : 0
    if (isByZip215 && !holds) break
  }
  return results
}

const port = parentPort
if (port === null) throw new Error("this is the program of a thread, which SignatureThreads starts")
port.on("message", (request: Request) => {
  const results = replyTo(request)
  port.postMessage(results, [results.buffer])
})
