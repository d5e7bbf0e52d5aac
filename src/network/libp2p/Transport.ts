/** The libp2p node under everything: TCP, Noise, Yamux, identify and gossipsub, with the limits that each of them has. */
import "./withResolvers.js"
import { GossipSub } from "@chainsafe/libp2p-gossipsub"
import { noise } from "@chainsafe/libp2p-noise"
import { yamux } from "@chainsafe/libp2p-yamux"
import { generateKeyPairFromSeed } from "@libp2p/crypto/keys"
import { identify } from "@libp2p/identify"
import type { Libp2p } from "@libp2p/interface"
import { tcp } from "@libp2p/tcp"
import { createLibp2p } from "libp2p"
import { sha256 } from "#crypto"
import * as Binary from "../../protocol/Binary.js"

/** Who may come in. */
export interface Gate {
  /** Before anything was said. */
  readonly refusesHost: (host: string) => boolean
  /** Once it is known who it is. */
  readonly refusesPeer: (peer: string, host: string | null) => boolean
}

export interface Options {
  /** The node's own key, which is not the validator's. */
  readonly seed: Uint8Array
  /** A multiaddr. */
  readonly listen: string
  readonly agent: string
  readonly topics: ReadonlyArray<string>
  readonly gate: Gate
}

export type Transport = Libp2p<{ readonly identify: unknown; readonly gossip: GossipSub }>

/** Streams that one peer may have open at a time: three for messages, gossip, the rest short-lived. */
const STREAMS_PER_PEER = 16
const MAX_CONNECTIONS = 256
const UPGRADE_LIMIT_MS = 5_000
/** Above that gossip is cut off by those who read it; a few transaction messages at once stay below. */
const GOSSIP_BYTES = 8_388_608
const GOSSIP_WAITING_BYTES = 16_777_216
/**
 * How long a message is known by its bytes. Short: what is said again after that is meant to be heard again, and what
 * was known before is not forwarded anyway.
 */
const SEEN_MS = 3_000

export const hostOf = (address: { readonly nodeAddress: () => { readonly address: string } }): string | null => {
  try {
    return address.nodeAddress().address
  } catch {
    // A name that is not resolved, or a transport without hosts.
    return null
  }
}

const makeGossip = (topics: ReadonlyArray<string>) => (components: ConstructorParameters<typeof GossipSub>[0]) =>
  new GossipSub(components, {
    globalSignaturePolicy: "StrictNoSign",
    // Unsigned messages have no author and number to be named by.
    msgIdFn: ({ topic, data }) => sha256(new Uint8Array([...Binary.utf8(topic), 0, ...sha256(data)])),
    asyncValidation: true,
    allowedTopics: new Set(topics),
    allowPublishToZeroTopicPeers: true,
    ignoreDuplicatePublishError: true,
    floodPublish: true,
    batchPublish: true,
    fallbackToFloodsub: false,
    emitSelf: false,
    doPX: false,
    seenTTL: SEEN_MS,
    maxInboundStreams: 2,
    maxOutboundStreams: 2,
    maxInboundDataLength: GOSSIP_BYTES,
    maxOutboundBufferSize: GOSSIP_WAITING_BYTES,
    // Conduct judges, with reasons of ours: nodes that share an address or are slow do nothing wrong.
    scoreParams: { IPColocationFactorWeight: 0, behaviourPenaltyWeight: 0 },
  })

export const start = async ({ seed, listen, agent, topics, gate }: Options): Promise<Transport> =>
  createLibp2p({
    privateKey: await generateKeyPairFromSeed("Ed25519", seed),
    nodeInfo: { userAgent: agent },
    addresses: { listen: [listen] },
    transports: [tcp({ backlog: 64, listenOpts: { noDelay: true }, dialOpts: { noDelay: true } })],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ maxInboundStreams: STREAMS_PER_PEER, maxOutboundStreams: 2 * STREAMS_PER_PEER })],
    connectionManager: {
      maxConnections: MAX_CONNECTIONS,
      maxParallelDials: 16,
      inboundConnectionThreshold: 50,
      maxIncomingPendingConnections: 64,
      inboundUpgradeTimeout: UPGRADE_LIMIT_MS,
      dialTimeout: 2 * UPGRADE_LIMIT_MS,
      // Nobody dials by itself: `Switchboard` knows whom to try again and when.
      reconnectRetries: 0,
    },
    connectionGater: {
      denyDialPeer: (peer) => gate.refusesPeer(peer.toString(), null),
      denyInboundConnection: ({ remoteAddr }) => gate.refusesHost(hostOf(remoteAddr) ?? ""),
      denyInboundEncryptedConnection: (peer, { remoteAddr }) =>
        gate.refusesPeer(peer.toString(), hostOf(remoteAddr) ?? ""),
    },
    services: { identify: identify({ protocolPrefix: "udg" }), gossip: makeGossip(topics) },
  })
