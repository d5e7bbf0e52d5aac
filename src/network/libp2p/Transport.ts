/** The libp2p node below everything: TCP, Noise, Yamux, identify and gossipsub, each with its limits. */
import "./withResolvers.js"
import { GossipSub } from "@chainsafe/libp2p-gossipsub"
import { yamux } from "@chainsafe/libp2p-yamux"
import { privateKeyFromRaw } from "@libp2p/crypto/keys"
import { identify } from "@libp2p/identify"
import type { Libp2p, PrivateKey } from "@libp2p/interface"
import { tcp } from "@libp2p/tcp"
import { createLibp2p } from "libp2p"
import { publicKeyOf, sha256 } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Policy } from "../peers/Wire.js"
import { hostOf } from "./Connections.js"
import * as GossipGuard from "./GossipGuard.js"
import * as Guard from "./Guard.js"
import * as Identity from "./Identity.js"
import * as Silence from "./Silence.js"

export interface Options {
  /** The node's own key, which is not the validator's. */
  readonly seed: Uint8Array
  /** A multiaddr. */
  readonly listen: string
  readonly agent: string
  /** Without it the standard one. */
  readonly silence?: Silence.Limit
}

export type Transport = Libp2p<{ readonly identify: unknown; readonly gossip: GossipSub }>

/** Streams that one peer may have open at a time: four for messages, gossip, the rest short-lived. */
const STREAMS_PER_PEER = 16
/** More than `Places` allows: it decides which connections go. */
const MAX_CONNECTIONS = 1_024
const MAX_ARRIVING = 512
/** Connections of one host per second, before anything was said. */
const ARRIVING_PER_SECOND = 32
const UPGRADE_LIMIT_MS = 5_000
const NEGOTIATION_LIMIT_MS = 5_000
/** With its head it fills one encrypted record. The library's own limit is 17 bytes more, which take a second record. */
const FRAME_BYTES = 65_519
/** The window a stream grows to on a fast line: memory for unread data. */
const STREAM_WINDOW_BYTES = 1_048_576
/** For a peer that does not read. */
const GOSSIP_WAITING_BYTES = 2_097_152
/**
 * How long a message is recognised by its bytes. Short: a later repetition is deliberate, and is not forwarded anyway.
 */
const SEEN_MS = 3_000

type GossipComponents = ConstructorParameters<typeof GossipSub>[0]

const makeGossip = (policy: Policy) => (components: GossipComponents) => {
  const { privateKey, peerId, peerStore, connectionManager, logger } = components
  const registrar = GossipGuard.registrar(components.registrar, policy)
  const { LIMITS } = GossipGuard
  return new GossipSub(
    { privateKey, peerId, peerStore, connectionManager, logger, registrar },
    {
      globalSignaturePolicy: "StrictNoSign",
      // Unsigned messages have no author or number to identify them.
      msgIdFn: ({ topic, data }) => sha256(new Uint8Array([...Binary.utf8(topic), 0, ...sha256(data)])),
      asyncValidation: true,
      allowedTopics: new Set(policy.topics),
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
      maxInboundDataLength: LIMITS.bytes,
      // A second limit after the guard, which counts everything that these do not: they count a list of ids as one.
      decodeRpcLimits: {
        maxSubscriptions: LIMITS.subscriptions,
        maxMessages: LIMITS.messages,
        maxIhaveMessageIDs: LIMITS.ids,
        maxIwantMessageIDs: LIMITS.ids,
        maxIdontwantMessageIDs: LIMITS.ids,
        maxControlMessages: LIMITS.controls,
        maxPeerInfos: 0,
      },
      maxOutboundBufferSize: GOSSIP_WAITING_BYTES,
      // `Conduct` judges peers by our rules: sharing an address or being slow is no offence. Message ids of departed
      // peers are forgotten with them.
      scoreParams: { IPColocationFactorWeight: 0, behaviourPenaltyWeight: 0, retainScore: SEEN_MS },
    },
  )
}

const NOISE = "/noise"

/**
 * Both halves, since the library derives the public one from a key without it, which Node 26 no longer reads. The cast
 * bridges two versions of one interface: `@libp2p/crypto` is newer than libp2p, because older ones compute with RSA keys
 * of any length that a stranger names.
 */
export const keyOf = (seed: Uint8Array) =>
  privateKeyFromRaw(Uint8Array.of(...seed, ...publicKeyOf(seed))) as unknown as PrivateKey

/** Returned before its start: the first connection must already find its listeners. */
export const make = ({ seed, listen, agent, silence }: Options, policy: Policy): Promise<Transport> =>
  createLibp2p({
    start: false,
    privateKey: keyOf(seed),
    nodeInfo: { userAgent: agent },
    addresses: { listen: [listen] },
    transports: [tcp({ backlog: 64, listenOpts: { noDelay: true }, dialOpts: { noDelay: true } })],
    connectionProtector: () => Guard.protector(NOISE, silence ?? Silence.STANDARD, policy.arrived),
    connectionEncrypters: [(components) => Guard.encrypter(Identity.encrypter(components), policy)],
    streamMuxers: [
      yamux({
        maxInboundStreams: STREAMS_PER_PEER,
        maxOutboundStreams: 2 * STREAMS_PER_PEER,
        maxMessageSize: FRAME_BYTES,
        maxStreamWindowSize: STREAM_WINDOW_BYTES,
      }),
    ],
    // Being slow costs nothing: otherwise a node that stalls for some seconds would lose all its peers at once. `Silence`
    // finds dead lines.
    connectionMonitor: { abortConnectionOnPingFailure: false },
    connectionManager: {
      maxConnections: MAX_CONNECTIONS,
      maxParallelDials: 16,
      inboundConnectionThreshold: ARRIVING_PER_SECOND,
      maxIncomingPendingConnections: MAX_ARRIVING,
      inboundUpgradeTimeout: UPGRADE_LIMIT_MS,
      inboundStreamProtocolNegotiationTimeout: NEGOTIATION_LIMIT_MS,
      outboundStreamProtocolNegotiationTimeout: 2 * NEGOTIATION_LIMIT_MS,
      dialTimeout: 2 * UPGRADE_LIMIT_MS,
      // `Dialling` decides which peers to try again, and when.
      reconnectRetries: 0,
    },
    connectionGater: {
      denyDialPeer: (peer) => policy.refusesPeer(peer.toString() as PeerId),
      denyInboundConnection: ({ remoteAddr }) => policy.refusesHost(remoteAddr.toString(), hostOf(remoteAddr) ?? ""),
      denyInboundEncryptedConnection: (peer) => policy.refusesPeer(peer.toString() as PeerId),
    },
    services: { identify: identify({ protocolPrefix: "udg" }), gossip: makeGossip(policy) },
  })
