/** Decodes a whole message at once, where the node decodes its vertices one by one. */
import { Either } from "effect"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { MalformedBytes } from "../../src/protocol/encoding/Binary.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"

const wholeVertices = (networkId: NetworkId, vertices: ReadonlyArray<Vertex.Encoded>) =>
  Either.all(vertices.map(({ encoded }) => Vertex.decode(networkId, encoded.slice())))

export const decode = (networkId: NetworkId, bytes: Uint8Array): Either.Either<Message, MalformedBytes> =>
  Either.flatMap(MessageCodec.unpack(networkId, bytes), (packed): Either.Either<Message, MalformedBytes> => {
    switch (packed._tag) {
      case "Vertices":
        return Either.map(wholeVertices(networkId, packed.vertices), (vertices) => ({ ...packed, vertices }))
      case "Rounds":
        return Either.map(wholeVertices(networkId, packed.vertices), (vertices) => ({ ...packed, vertices }))
      default:
        return Either.right(packed)
    }
  })
