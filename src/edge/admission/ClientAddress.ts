/** The client as limits count it: an IPv4 address, or the /64 of IPv6 that a provider assigns to one customer. */
import { Option } from "effect"
import * as AddressGroup from "../../network/AddressGroup.js"
import * as Cidr from "../../node/start/Cidr.js"

export interface Settings {
  /** Proxies whose statement about the client is trusted. */
  readonly trustedProxies: ReadonlyArray<Cidr.Cidr>
  /**
   * In lower case. If set, `X-Forwarded-For` is ignored, because a proxy that sets this header can pass the other on
   * unchanged.
   */
  readonly clientIpHeader: Option.Option<string>
}

/** The parts of a request that are read. */
export interface Asking {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/** Repeated headers are joined by commas. */
const headerOf = ({ headers }: Asking, name: string): string => headers[name]?.toString() ?? ""

/** The first address from the right that no trusted proxy has, which only an honest proxy can have written. */
const behindProxies = (chain: string, peer: string, isTrusted: (address: string) => boolean): string => {
  let client = peer
  for (const hop of chain.split(",").reverse()) {
    const address = AddressGroup.plain(hop)
    // Text that is not an address was written beyond the last known hop.
    if (address === undefined) return client
    client = address
    if (!isTrusted(address)) return client
  }
  return client
}

/** The client of a socket. Closed sockets have no address and count as one client. */
export const ofSocket = ({ remoteAddress }: Asking["socket"]): string =>
  remoteAddress === undefined ? "unknown" : AddressGroup.hostOf(AddressGroup.plain(remoteAddress) ?? remoteAddress)

/** Whether the socket belongs to a trusted proxy, which can serve any number of clients. */
export const isProxy = ({ trustedProxies }: Settings): ((socket: Asking["socket"]) => boolean) => {
  const isTrusted = Cidr.matcher(trustedProxies)
  return ({ remoteAddress }) => trustedProxies.length > 0 && isTrusted(AddressGroup.plain(remoteAddress ?? "") ?? "")
}

/** Whether a trusted proxy names the client for which it asks. */
export const isForwarded = (settings: Settings): ((request: Asking) => boolean) => {
  const ofProxy = isProxy(settings)
  const header = Option.getOrElse(settings.clientIpHeader, () => "x-forwarded-for")
  return (request) => ofProxy(request.socket) && headerOf(request, header) !== ""
}

/** Returns a function that determines a request's client. */
export const reader = (settings: Settings): ((request: Asking) => string) => {
  const isTrusted = Cidr.matcher(settings.trustedProxies)
  const named = Option.getOrUndefined(settings.clientIpHeader)
  const hasProxies = settings.trustedProxies.length > 0

  const throughProxy = (peer: string, request: Asking): string => {
    if (named === undefined) return behindProxies(headerOf(request, "x-forwarded-for"), peer, isTrusted)
    return AddressGroup.plain(headerOf(request, named).split(",").at(-1) ?? "") ?? peer
  }

  return (request) => {
    const peer = request.socket.remoteAddress
    if (!hasProxies || peer === undefined) return ofSocket(request.socket)
    const address = AddressGroup.plain(peer) ?? peer
    return AddressGroup.hostOf(isTrusted(address) ? throughProxy(address, request) : address)
  }
}
