import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import type * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Message } from "../../src/replica/messages/Message.js"
import * as arbitrary from "../protocol/arbitraries.js"
import { itObeysTheLawsOfACodec } from "../protocol/codecLaws.js"
import * as WholeMessage from "../support/WholeMessage.js"

const networkId = "udg-codec" as NetworkId

const signature = fc.record({ validator: arbitrary.address, signature: arbitrary.signature })
const epoch = arbitrary.counter<Natural.Epoch>()
const round = arbitrary.counter<Natural.Round>()

const messagesWith = (most: number): fc.Arbitrary<Message> => {
  const vertices = fc.array(arbitrary.vertex(networkId, most), { maxLength: most })
  return fc.oneof(
    fc.record({ _tag: fc.constant("Vertices" as const), vertices }),
    fc.record({
      _tag: fc.constant("Transactions" as const),
      transactions: fc.array(arbitrary.transaction(networkId), { maxLength: most }),
    }),
    fc.record({ _tag: fc.constant("Heartbeat" as const), heartbeat: arbitrary.heartbeat }),
    fc.record({ _tag: fc.constant("Evidence" as const), evidence: arbitrary.evidence }),
    fc.record({ _tag: fc.constant("CheckpointSignature" as const), checkpoint: arbitrary.checkpoint, signature }),
    fc.record({ _tag: fc.constant("AskVertices" as const), hashes: fc.array(arbitrary.hash, { maxLength: 256 }) }),
    fc.record({
      _tag: fc.constant("AskRounds" as const),
      epoch,
      fromRound: round,
      toRound: round,
      after: fc.option(arbitrary.hash),
    }),
    fc.record({ _tag: fc.constant("AskClosing" as const), from: epoch }),
    fc.record({ _tag: fc.constant("AskHighest" as const), author: arbitrary.address }),
    fc.record({
      _tag: fc.constant("AskState" as const),
      root: arbitrary.hash,
      position: fc.uint8Array({ maxLength: 33 }),
    }),
    fc.record({ _tag: fc.constant("Rounds" as const), epoch, vertices, isLast: fc.boolean() }),
    fc.record({
      _tag: fc.constant("Closing" as const),
      signed: fc.array(arbitrary.signedCheckpoint, { maxLength: most }),
      newest: fc.option(arbitrary.signedCheckpoint),
    }),
    fc.record({
      _tag: fc.constant("Highest" as const),
      author: arbitrary.address,
      epoch,
      header: fc.option(arbitrary.header),
    }),
    fc.record({
      _tag: fc.constant("State" as const),
      root: arbitrary.hash,
      subtree: fc.option(fc.uint8Array({ maxLength: 500 })),
    }),
  )
}

itObeysTheLawsOfACodec("messages", {
  values: messagesWith(3),
  small: messagesWith(1),
  encode: MessageCodec.encode,
  decode: (bytes) => WholeMessage.decode(networkId, bytes),
})

describe("a message", () => {
  it("is gossip, a question or an answer, and only vertices are two of these", () => {
    fc.assert(
      fc.property(messagesWith(1), (message) => {
        const kinds = [MessageCodec.isGossip, MessageCodec.isQuestion, MessageCodec.isAnswer]
        expect(kinds.filter((is) => is(message))).toHaveLength(message._tag === "Vertices" ? 2 : 1)
      }),
    )
  })

  it("of an unknown kind is refused, and so is an empty one", () => {
    for (const bytes of [Uint8Array.of(), Uint8Array.of(0), Uint8Array.of(99, 1, 2)]) {
      expect(Either.isLeft(WholeMessage.decode(networkId, bytes))).toBe(true)
    }
  })

  it("longer than allowed is refused before anything is read", () => {
    const bytes = new Uint8Array(MessageCodec.MAX_BYTES + 1)
    bytes[0] = 18
    expect(Either.flip(WholeMessage.decode(networkId, bytes)).pipe(Either.getOrThrow).message).toContain("at most")
  })
})
