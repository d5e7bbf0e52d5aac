/** The client as limits count it: an IPv4 address, or the 64 bits of IPv6 that one customer of a provider gets. */
import { Option } from "effect"
import * as AddressGroup from "../../network/AddressGroup.js"
import * as Cidr from "../../node/start/Cidr.js"

export interface Settings {
  /** The proxies whose statement about the client is believed. */
  readonly trustedProxies: ReadonlyArray<Cidr.Cidr>
  /** Lower case. When given, `X-Forwarded-For` is not read, since a proxy that sets the one may pass on the other. */
  readonly clientIpHeader: Option.Option<string>
}

/** The part of a request that is read. */
export interface Asking {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/** Repetitions joined by commas. */
const headerOf = ({ headers }: Asking, name: string): string => headers[name]?.toString() ?? ""

/** From the right, past all trusted proxies: the first address that only an honest proxy can have written. */
const behindProxies = (chain: string, peer: string, isTrusted: (address: string) => boolean): string => {
  let client = peer
  for (const hop of chain.split(",").reverse()) {
    const address = AddressGroup.plain(hop)
    // Text that is no address was written by someone behind the last hop that is one.
    if (address === undefined) return client
    client = address
    if (!isTrusted(address)) return client
  }
  return client
}

/** The client that a socket belongs to. A closed socket has no address any more; all of these count as one client. */
export const ofSocket = ({ remoteAddress }: Asking["socket"]): string =>
  remoteAddress === undefined ? "unknown" : AddressGroup.hostOf(AddressGroup.plain(remoteAddress) ?? remoteAddress)

/** Whether a socket is one of a trusted proxy, behind which there may be any number of clients. */
export const isProxy = ({ trustedProxies }: Settings): ((socket: Asking["socket"]) => boolean) => {
  const isTrusted = Cidr.matcher(trustedProxies)
  return ({ remoteAddress }) => trustedProxies.length > 0 && isTrusted(AddressGroup.plain(remoteAddress ?? "") ?? "")
}

/** Whether a trusted proxy says on whose behalf it asks. */
export const isForwarded = (settings: Settings): ((request: Asking) => boolean) => {
  const ofProxy = isProxy(settings)
  const header = Option.getOrElse(settings.clientIpHeader, () => "x-forwarded-for")
  return (request) => ofProxy(request.socket) && headerOf(request, header) !== ""
}

/** How to tell a request's client, made once from the settings. */
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
