/** A validator that signs two vertices for each of its rounds. */
import { Effect, Layer, Option } from "effect"
import { Network } from "../../src/network/Network.js"
import { Home } from "../../src/node/start/Home.js"
import * as Networking from "../../src/node/start/Networking.js"
import type { Signer } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as Member from "./Member.js"
import type * as Processes from "./Processes.js"

/** Of the same slot, a moment later. */
const twinOf = ({ header, body }: Vertex.Vertex, key: Signer): Vertex.Vertex =>
  Vertex.sign({ ...header, timestamp: Natural.timestamp(header.timestamp + 1) }, body, key)

/** The network between machines, where each own vertex goes out beside another of the same slot. */
const twoFaced = Layer.effect(
  Network,
  Effect.gen(function* () {
    const network = yield* Network
    const key = Option.getOrThrow((yield* Home).validatorKey)
    return Network.of({
      ...network,
      broadcast: (news) =>
        news._tag === "Vertices"
          ? network.broadcast({ ...news, vertices: news.vertices.flatMap((vertex) => [vertex, twinOf(vertex, key)]) })
          : network.broadcast(news),
    })
  }),
).pipe(Layer.provide(Networking.layer))

/** A validator with the first key that equivocates in every round, as a layer. */
export const equivocator = (network: Processes.Founded, peers: ReadonlyArray<Processes.Started>) =>
  Member.over(twoFaced, network, 0, peers)
