/** Records in the data directory, while the node runs, where it can be reached and how it was started. */
import { Clock, Effect, Option } from "effect"
import { Network } from "../network/Network.js"
import * as PeerAddress from "../network/PeerAddress.js"
import type * as Node from "../node/Node.js"
import { RpcUrl } from "../node/RpcUrl.js"
import { Configuration, type Settings } from "../node/start/Configuration.js"
import { Home } from "../node/start/Home.js"
import * as RunningFile from "../storage/files/RunningFile.js"

const described = (settings: Settings): RunningFile.Facts["settings"] => {
  const { p2p, rpc, metrics, mode, archive, genesisFile, validatorKeyFile, faucetKeyFile, validate, peers } = settings
  const { rpcNames, trustedProxies, clientIpHeader, rateLimits } = settings
  return {
    p2p: `${Option.getOrElse(p2p.host, () => "default host")} port ${p2p.port}`,
    rpc: `${rpc.host} port ${rpc.port}`,
    metrics: Option.getOrNull(Option.map(metrics, ({ host, port }) => `${host} port ${port}`)),
    mode: Option.getOrNull(mode),
    archive,
    genesis: Option.getOrNull(genesisFile),
    validator_key: Option.getOrNull(validatorKeyFile),
    faucet_key: Option.getOrNull(faucetKeyFile),
    validate,
    peers: peers.map(PeerAddress.toText),
    rpc_names: rpcNames,
    trusted_proxies: trustedProxies.map(({ address, prefix }) => `${address}/${prefix}`),
    client_ip_header: Option.getOrNull(clientIpHeader),
    rate_limits: rateLimits,
  }
}

const leave = Effect.gen(function* () {
  const { location } = yield* Home
  if (location._tag === "Ephemeral") return
  const settings = yield* Configuration
  yield* RunningFile.write(location.directory.fileOf("running"), {
    version: settings.version,
    pid: process.pid,
    since: yield* Clock.currentTimeMillis,
    rpc: (yield* RpcUrl).url,
    p2p: Option.getOrNull((yield* Network).listensAt),
    metrics_host: Option.getOrNull(Option.map(settings.metrics, ({ host }) => host)),
    settings: described(settings),
    ended: null,
  })
})

/** `Home` records the end. */
export const beside: Node.Beside = Effect.zipRight(leave, Effect.never)
