/** The network between machines, with this node's key and the peers remembered from an earlier run. */
import { FileSystem } from "@effect/platform"
import { type Context, Effect, Layer, Option } from "effect"
import type { Prover } from "../../network/Hello.js"
import * as Transport from "../../network/tls/Transport.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import { SecretKey } from "../../protocol/identity/Keys.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import * as PeerFile from "../../storage/files/PeerFile.js"
import { Configuration, type Settings } from "./Configuration.js"
import { Home, validatorOf } from "./Home.js"
import { proverWith } from "./RemoteSigner.js"
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

const proverOf = ({ validatorKey, remoteSigner }: Context.Tag.Service<typeof Home>): Prover | null =>
  Option.getOrNull(Option.orElse(validatorKey, (): Option.Option<Prover> => Option.map(remoteSigner, proverWith)))

/** A first trial has no peers to be reached by. */
const hostOf = ({ p2p, peers }: Settings, home: Context.Tag.Service<typeof Home>): string => {
  const { genesis } = home
  const own = validatorOf(home)
  const isAlone = peers.length === 0 && genesis.validators.every(({ publicKey }) => Option.contains(own, publicKey))
  return Option.getOrElse(p2p.host, () => (isAlone ? "127.0.0.1" : "0.0.0.0"))
}

export const layer = Layer.unwrapEffect(
  Effect.gen(function* () {
    const settings = yield* Configuration
    const home = yield* Home
    const { version, p2p, peers } = settings
    const { genesis } = home
    return Transport.layer({
      ...(yield* kept),
      agent: Versions.agentOf(Versions.of(version)),
      networkId: genesis.networkId,
      genesisHash: Genesis.hash(genesis),
      signer: proverOf(home),
      listen: { host: hostOf(settings, home), port: p2p.port },
      named: peers,
    })
  }),
)
