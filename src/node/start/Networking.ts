/** The network between machines, with this node's key and the peers remembered from an earlier run. */
import { FileSystem } from "@effect/platform"
import { type Context, Effect, Either, Layer, Option } from "effect"
import type { Prover } from "../../network/Hello.js"
import { nodeClock } from "../../network/tls/NodeClock.js"
import * as Transport from "../../network/tls/Transport.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import { SecretKey, type Signature } from "../../protocol/identity/Keys.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import * as PeerFile from "../../storage/files/PeerFile.js"
import { Configuration, type Settings } from "./Configuration.js"
import { Home, validatorOf } from "./Home.js"
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

/** A connection does not wait longer for a signer: without its proof the other node treats this one as no validator. */
const PROOF_MS = 1_000
/** Anybody who connects wants a proof, and vertices wait behind proofs at the signer. */
const MOST_PROOFS_AT_ONCE = 8

const proverOf = ({ validatorKey, remoteSigner }: Context.Tag.Service<typeof Home>): Prover | null => {
  if (Option.isSome(validatorKey)) return validatorKey.value
  const signer = Option.getOrNull(remoteSigner)
  if (signer === null) return null
  let open = 0
  const signed = async (bytes: Uint8Array): Promise<Signature | null> => {
    open++
    const answer = await signer.sign(bytes).finally(() => open--)
    return Either.getOrElse(answer, () => null)
  }
  const inTime = async (bytes: Uint8Array): Promise<Signature | null> => {
    if (signer.absence() !== null || open >= MOST_PROOFS_AT_ONCE) return null
    return Promise.race([signed(bytes), nodeClock.wait(PROOF_MS).then(() => null)])
  }
  return { publicKey: signer.publicKey, sign: inTime, isAway: () => signer.absence() !== null }
}

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
