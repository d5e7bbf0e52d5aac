/** The first messages on a connection: each side says hello, then proves its validator key. */
import { Either } from "effect"
import type { Address } from "../../protocol/identity/Address.js"
import * as Hello from "../Hello.js"
import * as Channel from "./Channel.js"
import type { Lanes } from "./Lanes.js"

export interface Greeted {
  readonly hello: Hello.Hello
  readonly validator: Address | null
  /** Whether this node's signer was late or away, so that the other side takes this node for no validator. */
  readonly isUnproven: boolean
}

/** The two nodes do not belong together; the message says why. */
export class Strangers extends Error {}

/** The other side sent a malformed hello or an invalid proof. */
export class NoGreeting extends Error {}

export interface Self {
  readonly id: string
  readonly hello: Hello.Hello
  readonly signer: Hello.Prover | null
}

/** A valid greeting has two messages; further ones are dropped. */
const MOST_MESSAGES = 4

/**
 * Receives the other side's messages. This lane is the same on all networks, so that two nodes can tell why they
 * disconnect.
 */
const hearing = (lanes: Lanes): (() => Promise<Uint8Array>) => {
  const heard: Array<Uint8Array> = []
  let wake = () => {}
  lanes.accept("greeting", Channel.LIMITS.greeting.windowBytes, (message) => {
    if (heard.length < MOST_MESSAGES) heard.push(message)
    wake()
    return undefined
  })
  return async () => {
    for (;;) {
      const message = heard.shift()
      if (message !== undefined) return message
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}

/** `other`: the peer id proven by the handshake. Has no time limit of its own: `Reception` sets one. */
export const greet = async (self: Self, other: string, lanes: Lanes): Promise<Greeted> => {
  const next = hearing(lanes)
  // Sent before judging the other side, so that both can say why they disconnect.
  lanes.send("greeting", Hello.encode(self.hello))
  const theirs = Hello.judge(self.hello, await next())
  if (Either.isLeft(theirs)) throw new Strangers(theirs.left)
  const ends = { prover: self.id, verifier: other }
  const own = self.signer && (await Hello.proven(theirs.right, ends, self.signer))
  const isUnproven = self.signer !== null && own === null
  lanes.send("greeting", Hello.encodeProof(own))
  const proof = Hello.decodeProof(await next())
  if (Either.isLeft(proof)) throw new NoGreeting(proof.left.message)
  if (proof.right === null) return { hello: theirs.right, validator: null, isUnproven }
  const validator = Hello.validatorOf(self.hello, { prover: other, verifier: self.id }, proof.right)
  if (validator === null) throw new NoGreeting("its proof of a validator key is invalid")
  return { hello: theirs.right, validator, isUnproven }
}
