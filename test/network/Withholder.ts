/** A validator that can keep its signatures under checkpoints to itself. */
import { Effect, Layer } from "effect"
import { Network } from "../../src/network/Network.js"
import * as Networking from "../../src/node/start/Networking.js"
import * as Member from "./Member.js"
import type * as Processes from "./Processes.js"

/** The network between machines, to which no signature under a checkpoint goes out while it withholds them. */
const withholding = (isWithholding: () => boolean) =>
  Layer.effect(
    Network,
    Effect.map(Network, (network) =>
      Network.of({
        ...network,
        broadcast: (news) =>
          news._tag === "CheckpointSignature" && isWithholding() ? Effect.void : network.broadcast(news),
        // With the others' signatures and its own it has a quorum, which would answer a question.
        send: (to, message) =>
          message._tag === "Closing" && isWithholding() ? Effect.void : network.send(to, message),
      }),
    ),
  ).pipe(Layer.provide(Networking.layer))

/** The validator with this number, as a layer. */
export const withholder = (
  network: Processes.Founded,
  n: number,
  peers: ReadonlyArray<Processes.Started>,
  isWithholding: () => boolean,
) => Member.over(withholding(isWithholding), network, n, peers)
