import { Option } from "effect"
import * as Hex from "../protocol/encoding/Hex.js"
import type { PeerId } from "../replica/messages/Peer.js"
import * as Host from "./Host.js"

/** Where another node can be dialled: a host, a TCP port and, if known, the key that must answer there. */
export interface PeerAddress {
  readonly host: string
  readonly port: number
  readonly key: Option.Option<PeerId>
}

/** The accepted forms, for errors and help texts. */
export const expected = "HOST:PORT or KEY@HOST:PORT, such as 203.0.113.7:9333 or [2001:db8::1]:9333"

const form = /^(?:([^@]*)@)?(?:\[([^[\]]+)\]|([^:[\]]+)):(\d{1,5})$/
const KEY_BYTES = 32

const isKey = (text: string): text is PeerId => Hex.isHex(text, KEY_BYTES)

/** Parses `HOST:PORT` or `KEY@HOST:PORT`, with IPv6 addresses in brackets. */
export const parse = (text: string): Option.Option<PeerAddress> =>
  Option.gen(function* () {
    const [, key, bracketed, bare, digits = ""] = yield* Option.fromNullable(form.exec(text))
    const host = bracketed ?? bare ?? ""
    const kind = yield* Option.fromNullable(Host.kindOf(host))
    const port = Number(digits)
    if ((kind === "ip6") !== (bracketed !== undefined) || port < 1 || port > 65_535) return yield* Option.none()
    if (key === undefined) return { host, port, key: Option.none() }
    const lower = key.toLowerCase()
    return yield* isKey(lower) ? Option.some({ host, port, key: Option.some(lower) }) : Option.none()
  })

export const hostPort = (host: string, port: number): string => `${host.includes(":") ? `[${host}]` : host}:${port}`

export const at = (key: PeerId, hostAndPort: string): string => `${key}@${hostAndPort}`

export const toText = ({ host, port, key }: PeerAddress): string =>
  Option.match(key, { onNone: () => hostPort(host, port), onSome: (known) => at(known, hostPort(host, port)) })
