/** A thread program that checks one signature repeatedly, with the bare library. */
import { parentPort } from "node:worker_threads"
import { verifyNative } from "#crypto"

export interface Request {
  readonly count: number
  readonly signature: Uint8Array
  readonly message: Uint8Array
  readonly publicKey: Uint8Array
}

const port = parentPort
if (port === null) throw new Error("this is the program of a thread, which bench/signatures.ts starts")
port.on("message", ({ count, signature, message, publicKey }: Request) => {
  for (let i = 0; i < count; i++) verifyNative(signature, message, publicKey)
  port.postMessage("done")
})
