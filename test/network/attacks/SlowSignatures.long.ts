/**
 * One of four validators makes vertices that are valid only by ZIP-215, and shows each to one other member. If that
 * member names it, the other two must judge it before they can continue.
 */
import { Effect, Layer, Option } from "effect"
import { afterEach, expect, it } from "vitest"
import { Network } from "../../../src/network/Network.js"
import * as PeerAddress from "../../../src/network/PeerAddress.js"
import * as Engine from "../../../src/node/engine/Engine.js"
import * as Node from "../../../src/node/Node.js"
import * as Configuration from "../../../src/node/start/Configuration.js"
import * as Networking from "../../../src/node/start/Networking.js"
import * as Address from "../../../src/protocol/identity/Address.js"
import type { SecretKey, Signature } from "../../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../../src/protocol/identity/Network.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"
import * as Transaction from "../../../src/protocol/transaction/Transaction.js"
import * as Vertex from "../../../src/protocol/vertex/Vertex.js"
import * as world from "../../node/world.js"
import { expectOneHistory } from "../History.js"
import * as Processes from "../Processes.js"
import { slowSigner } from "./Ammunition.js"

const ROUND_MS = 200
const WINDOW_MS = 12_000
/** A vertex of 1 MiB has room for three times as many. Making them takes a second. */
const SIGNATURES = 3_000

afterEach(Processes.removeAll)

/** Transactions without effect, from accounts without a record. */
const slowBody = (networkId: NetworkId): Vertex.Body => {
  const signer = slowSigner()
  const from = Address.fromPublicKey(signer.publicKey)
  const transactions = Array.from({ length: SIGNATURES }, (_, nonce) => {
    const unsigned = { from, nonce: Natural.nonce(nonce), fee: Sats.ZERO, operation: { _tag: "UnstakeTx" } } as const
    const signature: Signature = signer.sign(Transaction.signedBytes(networkId, unsigned))
    return Transaction.make(networkId, unsigned, { _tag: "SingleKey", publicKey: signer.publicKey, signature })
  })
  return { ...Vertex.emptyBody, transactions }
}

/** A network that does not send the node's own vertices: this test makes them. */
const mute = Layer.effect(
  Network,
  Effect.map(Network, (network) =>
    Network.of({
      ...network,
      broadcast: (news) => (news._tag === "Vertices" ? Effect.void : network.broadcast(news)),
    }),
  ),
).pipe(Layer.provide(Networking.layer))

const liar = ({ folder, genesisFile }: Processes.Founded, peers: ReadonlyArray<Processes.Started>) => {
  const settings = {
    dataDirectory: `${folder}/liar`,
    genesisFile: Option.some(genesisFile),
    validatorKeyFile: Option.some(`${folder}/0.key`),
    roundMs: Option.none(),
    peers: peers.map(({ p2p }) => Option.getOrThrow(PeerAddress.parse(p2p))),
  }
  return Node.layerOver(Engine.layer, mute).pipe(
    Layer.provideMerge(Layer.succeed(Configuration.Configuration, world.settings(settings))),
    Layer.provideMerge(world.platform),
  )
}

/** One vertex on each newest round of the others, sent to one of them in turn. */
const attack = (key: SecretKey, body: Vertex.Body, shown: { vertices: number }) =>
  Effect.gen(function* () {
    const { view } = yield* Engine.Engine
    const network = yield* Network
    const self = Address.fromPublicKey(key.publicKey)
    let last = 0
    while (true) {
      yield* Effect.sleep("5 millis")
      const { dag, opening, committee } = view.core.epoch
      const others = (at: number) => dag.at(Natural.round(at)).filter(({ vertex }) => vertex.header.author !== self)
      const round = Natural.round(others(dag.highestRound).length < 3 ? dag.highestRound : dag.highestRound + 1)
      const before = others(round - 1)
      if (round <= last || before.length < 3) continue
      last = round
      const vertex = Vertex.sign(
        {
          base: opening.base,
          epoch: opening.record.epoch,
          round,
          parents: before.map(({ vertex }) => vertex.header),
          timestamp: Natural.timestamp(Date.now()),
          coinbase: committee.coinbase(round, committee.seatOf(self) ?? 0),
        },
        body,
        key,
      )
      const members = (yield* network.peers).filter(({ validator }) => validator !== null)
      const victim = members[shown.vertices++ % members.length]
      if (victim !== undefined) yield* network.send(victim.id, { _tag: "Vertices", vertices: [vertex] })
    }
  })

it("vertices that are slow to judge, each shown to one member, do not slow the network down", async () => {
  const network = Processes.found({ roundMs: ROUND_MS, epochRounds: 5_000, checkpointRounds: 20 })
  const [key] = network.keys
  if (key === undefined) return expect.unreachable()
  const body = slowBody(network.genesis.networkId)
  const honest: Array<Processes.Started> = []
  for (const n of [1, 2, 3]) honest.push(await Processes.startValidator(network, n, honest))
  const lowest = () => Math.min(...honest.map(Processes.finalizedRound))
  const window = Effect.gen(function* () {
    const first = lowest()
    yield* Effect.sleep(WINDOW_MS)
    return lowest() - first
  })
  const shown = { vertices: 0 }
  const run = Effect.gen(function* () {
    yield* Effect.promise(() => Processes.everybodyAt(honest, 10))
    const calm = yield* window
    const attacked = yield* Effect.raceFirst(window, attack(key, body, shown))
    return { calm, attacked }
  }).pipe(Effect.provide(liar(network, honest)))
  const { calm, attacked } = await Effect.runPromise(run)
  expect(shown.vertices).toBeGreaterThan(3)
  expect(attacked / calm).toBeGreaterThan(0.7)
  await expectOneHistory(honest, 10)
}, 240_000)
