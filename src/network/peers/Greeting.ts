/** The first messages on a connection: each side says hello, then proves its validator's key. The dialler opens the stream. */
import { Either } from "effect"
import type { Address } from "../../protocol/identity/Address.js"
import type { Signer } from "../../protocol/identity/Keys.js"
import * as Frames from "../Frames.js"
import * as Hello from "../Hello.js"
import type { Stream } from "./Wire.js"

/** The same on all networks, so that nodes of two networks can tell each other why they disconnect. */
export const PROTOCOL = "/udg/hello/1"

const WAITING_BYTES = 4 * Hello.MAX_BYTES

export interface Greeted {
  readonly hello: Hello.Hello
  readonly validator: Address | null
}

/** The two nodes do not belong together; the message says why. */
export class Strangers extends Error {}

/** It sent something that is not a hello, or not a proof. */
export class NoGreeting extends Error {}

export interface Self {
  readonly id: string
  readonly hello: Hello.Hello
  readonly signer: Signer | null
}

const next = async (frames: AsyncGenerator<Uint8Array, undefined>): Promise<Uint8Array> => {
  const { value } = await frames.next()
  if (value === undefined) throw new Error("it closed the stream")
  return value
}

const converse = async (self: Self, other: string, stream: Stream, outgoing: Frames.Outgoing): Promise<Greeted> => {
  // Sent in any case, so that both sides can say why they disconnect.
  outgoing.push(Frames.framed(Hello.encode(self.hello)))
  const frames = Frames.read(stream.source, Hello.MAX_BYTES)
  const theirs = Hello.judge(self.hello, await next(frames))
  if (Either.isLeft(theirs)) throw new Strangers(theirs.left)
  const own = self.signer && Hello.prove(theirs.right, { prover: self.id, verifier: other }, self.signer)
  outgoing.push(Frames.framed(Hello.encodeProof(own)))
  const proof = Hello.decodeProof(await next(frames))
  if (Either.isLeft(proof)) throw new NoGreeting(proof.left.message)
  if (proof.right === null) return { hello: theirs.right, validator: null }
  const validator = Hello.validatorOf(self.hello, { prover: other, verifier: self.id }, proof.right)
  if (validator === null) throw new NoGreeting("its proof of a validator key does not hold")
  return { hello: theirs.right, validator }
}

/** `other`: the peer id that the handshake has proven. It takes as long as the other side does: `Reception` limits that. */
export const greet = async (self: Self, other: string, stream: Stream): Promise<Greeted> => {
  const outgoing = new Frames.Outgoing(WAITING_BYTES, Frames.untimed)
  const sent = stream.sink(outgoing.pieces()).catch(() => {
    // Reading fails for the same reason, and reports it.
  })
  try {
    return await converse(self, other, stream, outgoing)
  } finally {
    outgoing.end()
    await sent
  }
}
