/**
 * Packs signatures into one buffer that crosses to another thread without a copy; objects would be cloned one by one.
 */
import type { Check } from "../../protocol/transaction/Verification.js"

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** The length of the message precedes the key. */
const KEY_AT = 4
const SIGNATURE_AT = KEY_AT + KEY_BYTES
const MESSAGE_AT = SIGNATURE_AT + SIGNATURE_BYTES

/**
 * A single-key transaction's canonical bytes end in this key and signature; copying them takes a fifth of the time of
 * parsing hexadecimal. The protocol's code is not called here, which would make it part of the threads' program.
 */
const writeProof = (target: Buffer, { publicKey, signature, transaction }: Check, at: number): void => {
  const authorization = transaction?.authorization
  if (
    transaction !== undefined &&
    authorization?._tag === "SingleKey" &&
    authorization.publicKey === publicKey &&
    authorization.signature === signature
  ) {
    const { encoded } = transaction
    target.set(encoded.subarray(encoded.length - KEY_BYTES - SIGNATURE_BYTES), at + KEY_AT)
    return
  }
  target.write(publicKey, at + KEY_AT, "hex")
  target.write(signature, at + SIGNATURE_AT, "hex")
}

export const pack = (checks: ReadonlyArray<Check>): ArrayBuffer => {
  const bytes = new ArrayBuffer(checks.reduce((length, { message }) => length + MESSAGE_AT + message.length, 0))
  const target = Buffer.from(bytes)
  let at = 0
  for (const check of checks) {
    const { message } = check
    target.writeUInt32BE(message.length, at)
    writeProof(target, check, at)
    target.set(message, at + MESSAGE_AT)
    at += MESSAGE_AT + message.length
  }
  return bytes
}

interface Packed {
  readonly signature: Uint8Array
  readonly message: Uint8Array
  readonly publicKey: Uint8Array
}

/** In the same order, as views of the buffer. */
export function* unpack(bytes: ArrayBuffer): Generator<Packed> {
  const view = new DataView(bytes)
  for (let at = 0; at < bytes.byteLength; ) {
    const length = view.getUint32(at)
    yield {
      publicKey: new Uint8Array(bytes, at + KEY_AT, KEY_BYTES),
      signature: new Uint8Array(bytes, at + SIGNATURE_AT, SIGNATURE_BYTES),
      message: new Uint8Array(bytes, at + MESSAGE_AT, length),
    }
    at += MESSAGE_AT + length
  }
}
