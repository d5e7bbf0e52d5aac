/** The network between machines, with this node's key and the peers it remembers from an earlier run. */
import { FileSystem } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import * as Transport from "../../network/tls/Transport.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import { SecretKey } from "../../protocol/identity/Keys.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import * as PeerFile from "../../storage/files/PeerFile.js"
import { Configuration } from "./Configuration.js"
import { Home } from "./Home.js"
import * as Versions from "./Versions.js"

const kept = Effect.gen(function* () {
  const { location } = yield* Home
  const fileSystem = yield* FileSystem.FileSystem
  if (location._tag === "Ephemeral") {
    return { nodeKey: SecretKey.generate(), remembered: [], remember: () => Effect.void }
  }
  const file = location.directory.fileOf("peers")
  return {
    nodeKey: yield* KeyFile.loadOrCreate(location.directory.fileOf("nodeKey")),
    remembered: yield* PeerFile.load(file),
    remember: (addresses: ReadonlyArray<string>) =>
      Effect.provideService(PeerFile.save(file, addresses), FileSystem.FileSystem, fileSystem),
  }
})

export const layer = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { version, p2p, peers } = yield* Configuration
    const { genesis, validatorKey } = yield* Home
    return Transport.layer({
      ...(yield* kept),
      agent: Versions.agentOf(Versions.of(version)),
      networkId: genesis.networkId,
      genesisHash: Genesis.hash(genesis),
      signer: Option.getOrNull(validatorKey),
      listen: p2p,
      named: peers,
    })
  }),
)
