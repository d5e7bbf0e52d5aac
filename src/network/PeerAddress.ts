import { Option } from "effect"
import * as Host from "./Host.js"

/** Where another node can be dialled: a host, a TCP port and, when it is known, the peer id that must answer there. */
export interface PeerAddress {
  readonly protocol: "ip4" | "ip6" | "dns" | "dns4" | "dns6"
  readonly host: string
  readonly port: number
  readonly peerId: Option.Option<string>
}

/** The accepted forms, for messages and help. */
export const expected =
  "host:port or a multiaddr such as /ip4/203.0.113.7/tcp/9333 or /dns/node.example/tcp/9333/p2p/ID"

const multiaddr = /^\/(ip4|ip6|dns|dns4|dns6)\/([^/]+)\/tcp\/(\d{1,5})(?:\/p2p\/([^/]+))?$/
const hostAndPort = /^(?:\[([^[\]]+)\]|([^:[\]]+)):(\d{1,5})$/

/** A base58btc multihash (`Qm…`, `12D3Koo…`) or a base32 CID (`bafz…`): the two ways a peer id is written. */
const peerId = /^(?:[1-9A-HJ-NP-Za-km-z]{46,64}|b[a-z2-7]{50,72})$/

const port = (digits: string): Option.Option<number> =>
  Option.some(Number(digits)).pipe(Option.filter((number) => number >= 1 && number <= 65_535))

const kindOfProtocol = (protocol: PeerAddress["protocol"]): Host.Kind =>
  protocol === "ip4" || protocol === "ip6" ? protocol : "dns"

const fromMultiaddr = (text: string): Option.Option<PeerAddress> =>
  Option.gen(function* () {
    const [, protocol, host = "", digits = "", id] = yield* Option.fromNullable(multiaddr.exec(text))
    const address = {
      protocol: protocol as PeerAddress["protocol"],
      host,
      port: yield* port(digits),
      peerId: Option.fromNullable(id),
    }
    const fits = Host.kindOf(host) === kindOfProtocol(address.protocol) && (id === undefined || peerId.test(id))
    return yield* fits ? Option.some(address) : Option.none()
  })

const fromHostAndPort = (text: string): Option.Option<PeerAddress> =>
  Option.gen(function* () {
    const [, bracketed, bare, digits = ""] = yield* Option.fromNullable(hostAndPort.exec(text))
    const host = bracketed ?? bare ?? ""
    const protocol = yield* Option.fromNullable(Host.kindOf(host))
    const fits = (protocol === "ip6") === (bracketed !== undefined)
    return yield* fits
      ? Option.some({ protocol, host, port: yield* port(digits), peerId: Option.none() })
      : Option.none()
  })

/** Reads a multiaddr over TCP, `host:port` or `[ipv6]:port`; none when it is none of these. */
export const parse = (text: string): Option.Option<PeerAddress> =>
  text.startsWith("/") ? fromMultiaddr(text) : fromHostAndPort(text)

/** The canonical text, as libp2p reads it. */
export const toMultiaddr = (address: PeerAddress): string => {
  const id = Option.match(address.peerId, { onNone: () => "", onSome: (known) => `/p2p/${known}` })
  return `/${address.protocol}/${address.host}/tcp/${address.port}${id}`
}
