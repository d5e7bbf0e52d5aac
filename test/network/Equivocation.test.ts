/** One of four validators says two things in every round: all others prove it, and slash it. */
import { Effect, Layer, Option } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { Network } from "../../src/network/Network.js"
import * as PeerAddress from "../../src/network/PeerAddress.js"
import * as Engine from "../../src/node/engine/Engine.js"
import * as Node from "../../src/node/Node.js"
import * as Configuration from "../../src/node/start/Configuration.js"
import { Home } from "../../src/node/start/Home.js"
import * as Networking from "../../src/node/start/Networking.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as world from "../node/world.js"
import { expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"
import * as Wallet from "./Wallet.js"

const LIMIT_MS = 240_000

afterEach(Processes.removeAll)

/** Of the same slot, a moment later. */
const twinOf = ({ header, body }: Vertex.Vertex, key: SecretKey): Vertex.Vertex =>
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

const equivocator = ({ folder, genesisFile }: Processes.Founded, peers: ReadonlyArray<Processes.Started>) =>
  Node.layerOver(Engine.layer, twoFaced).pipe(
    Layer.provideMerge(
      Layer.succeed(
        Configuration.Configuration,
        world.settings({
          dataDirectory: `${folder}/equivocator`,
          genesisFile: Option.some(genesisFile),
          validatorKeyFile: Option.some(`${folder}/0.key`),
          roundMs: Option.none(),
          peers: peers.map(({ p2p }) => Option.getOrThrow(PeerAddress.parse(p2p))),
        }),
      ),
    ),
    Layer.provideMerge(world.platform),
  )

describe("a validator that says two things", () => {
  it(
    "is slashed on every node, and the others go on",
    async () => {
      const network = Processes.found({ roundMs: 300, epochRounds: 240 })
      const [liar] = network.keys
      if (liar === undefined) return expect.unreachable()
      const honest: Array<Processes.Started> = []
      for (const n of [1, 2, 3]) honest.push(await Processes.startValidator(network, n, honest))
      const address = Address.fromPublicKey(liar.publicKey)
      const stakeAt = (node: Processes.Started) => Wallet.stakeOf(node, address)
      const isSlashed = async () =>
        (await Promise.all(honest.map(stakeAt))).every((stake) => stake < Sats.MIN_STAKE_SATS)
      const run = Effect.provide(
        Effect.promise(() => Processes.until("it is slashed on every node", isSlashed)),
        equivocator(network, honest),
      )
      await Effect.runPromise(run)
      const stakes = await Promise.all(honest.map(stakeAt))
      expect(new Set(stakes)).toEqual(new Set([Sats.MIN_STAKE_SATS / 2]))
      const round = Math.max(...honest.map(Processes.finalizedRound)) + 10
      await Processes.everybodyAt(honest, round)
      await expectOneHistory(honest, round)
      for (const node of honest) expect(node.log()).not.toContain("no honest node")
    },
    LIMIT_MS,
  )
})
