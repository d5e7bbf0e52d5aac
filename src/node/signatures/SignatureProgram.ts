/** The program of a thread that checks signatures. `SignatureThreads` is the other side. */
import * as os from "node:os"
import { parentPort } from "node:worker_threads"
import { verifyNative, verifyZip215 } from "#crypto"
import * as CheckBatch from "./CheckBatch.js"

export interface Request {
  readonly count: number
  /** `count` checks, packed by `CheckBatch`. */
  readonly bytes: ArrayBuffer
  /** Checks of one vertex by the rule for vertices: the first invalid one decides, and the rest is skipped. */
  readonly isByZip215: boolean
}

/** 1 for each valid signature. */
export type Reply = Uint8Array<ArrayBuffer>

// When all cores are busy, rounds go first: these checks can wait for rounds, but not the reverse. On Linux this sets
// the thread's own priority; elsewhere it would set the whole program's. Without permission, or with a lower priority
// already, the thread keeps its own.
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
