/** The first words on a connection: hellos both ways, then proofs. Whoever dialled opens the stream. */
import type { Stream } from "@libp2p/interface"
import { Either } from "effect"
import type { Address } from "../../protocol/identity/Address.js"
import type { Signer } from "../../protocol/identity/Keys.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import * as Frames from "../Frames.js"
import * as Hello from "../Hello.js"

/** Not bound to a network, so that strangers can be told why they are refused. */
export const PROTOCOL = "/udg/hello/1"

/** Nobody needs longer, and a stream on which nothing is said must not stay. */
const LIMIT_MS = 10_000
const WAITING_BYTES = 4 * Hello.MAX_BYTES

export interface Greeted {
  readonly hello: Hello.Hello
  readonly validator: Address | null
}

/** The two have nothing to say to each other; the message says why. */
export class Strangers extends Error {}

/** What it sent is no hello, or no proof. */
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
  // The own hello goes out in any case, so that both sides can say what is wrong.
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

/** `other`: the peer id that Noise has found at the other end. */
export const greet = async (self: Self, other: string, stream: Stream): Promise<Greeted> => {
  const outgoing = new Frames.Outgoing(WAITING_BYTES, SteadyClock.now)
  const timer = setTimeout(() => stream.abort(new Error(`no greeting within ${LIMIT_MS} ms`)), LIMIT_MS)
  const sent = stream.sink(outgoing.pieces()).catch(() => {
    // The reading side fails of the same, and says so.
  })
  try {
    return await converse(self, other, stream, outgoing)
  } finally {
    outgoing.end()
    await sent
    clearTimeout(timer)
  }
}
