/**
 * What the web pages that a visitor of this machine has open may ask of the node. Any page reaches it, and may even make its
 * own name lead to 127.0.0.1 (DNS rebinding); that name is still in `Host`, and in the `Origin` of all that it posts.
 * Programs name no `Origin`. Node's own `fetch` sends `Sec-Fetch-Mode`, so that header says nothing about who asks.
 */
import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import * as Failure from "../definition/Failure.js"

/** The ends of two sentences, as the program that serves words them. */
export interface Words {
  /** Behind "ask 127.0.0.1 or localhost, or": how to have it serve another name. */
  readonly names: string
  /** Behind "a page of another site may not": what, and how to do it instead. */
  readonly pages: string
}

export interface Options {
  readonly words: Words
  /** The interface as it was named, `--rpc-host`. */
  readonly host: string
  /** Other names of this machine, and of pages that may do what the node's own may: `--rpc-name`. */
  readonly names: ReadonlyArray<string>
  /** Whether the request comes from outside, through a trusted proxy. */
  readonly isProxied: (request: IncomingMessage) => boolean
}

/** The name or address of an authority, in lower case without port and final dot; none where it is no authority. */
const hostOf = (authority: string): string | undefined => {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(authority.trim()) ?? []
  return (bracketed ?? plain)?.toLowerCase().replace(/\.$/, "")
}

const isLoopback = (address: string): boolean =>
  /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address) || address === "::1" || address === "0:0:0:0:0:0:0:1"

/** Whether nobody but this machine reaches what listens there. */
export const isLocal = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || isLoopback(host)

/** The host of a page. */
const hostOfOrigin = (origin: string): string | undefined => {
  const [, authority] = /^https?:\/\/([^/?#@]+)$/i.exec(origin) ?? []
  return authority === undefined ? undefined : hostOf(authority)
}

const PASSED_ON = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]

/** Whether a program on this machine asks a server on the loopback. A proxy that passes requests on usually says so. */
export const isOfThisMachine = ({ headers }: IncomingMessage): boolean =>
  !PASSED_ON.some((name) => headers[name] !== undefined) && isLocal(hostOf(headers.host ?? "") ?? "")

/**
 * Whether a browser asks for a page, whichever it is, and not for its user, who typed the address. `Sec-Fetch-Mode` alone
 * comes from Node's own `fetch`.
 */
export const isOfPage = ({ headers }: IncomingMessage): boolean => {
  const { origin, "sec-fetch-site": site, "sec-fetch-dest": destination } = headers
  return origin !== undefined || (site !== "none" && (site !== undefined || destination !== undefined))
}

/** Names and values of raw headers stand in turns. */
const hostsIn = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === "host") count++
  }
  return count
}

/**
 * The refusal of a request that names no host, or several: HTTP/1.1 requires exactly one (RFC 9112, section 3.2), since a proxy and
 * this server could otherwise each believe another one. HTTP/1.0 knows no `Host`.
 */
export const refusalOfUnnamed = (request: IncomingMessage): Failure.InvalidRequest | undefined => {
  const count = hostsIn(request)
  if (count === 1 || (count === 0 && request.httpVersion === "1.0")) return undefined
  const message = `Host: exactly one such header expected, got ${count === 0 ? "none" : count}`
  return new Failure.InvalidRequest({ message, field: "host" })
}

/** What a browser says of its user and of the node's own pages. Programs say nothing. */
const OWN_SITES: ReadonlySet<unknown> = new Set(["none", "same-origin"])

const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)

export class PageGuard {
  readonly #names: ReadonlySet<string>
  readonly #isProxied: Options["isProxied"]
  readonly #words: Words
  #isLocal = false

  constructor({ host, names, isProxied, words }: Options) {
    this.#names = new Set([host, ...names].flatMap((name) => hostOf(name.includes(":") ? `[${name}]` : name) ?? []))
    this.#isProxied = isProxied
    this.#words = words
  }

  /** Takes the address that the server really has. */
  boundTo(address: string): void {
    this.#isLocal = isLoopback(address)
  }

  /** The refusal of a request to the loopback under a name that is not this machine's. */
  refusalOfHost(request: IncomingMessage): Failure.ForeignHost | undefined {
    const { host } = request.headers
    // Browsers always send one. A name without a dot proves nothing: in a local network anybody can claim one.
    if (!this.#isLocal || host === undefined || host === "") return undefined
    const name = hostOf(host)
    if (name !== undefined && this.#isOwn(name)) return undefined
    if (this.#isProxied(request)) return undefined
    return new Failure.ForeignHost({
      message:
        `Host: ${shown(host)} is not a name of this machine, and this server serves no other one: ask 127.0.0.1 or ` +
        `localhost, or ${this.#words.names}`,
    })
  }

  /** The refusal of a page of another site that asks for coins, keys or signatures. */
  refusalOfPage(request: IncomingMessage): Failure.ForeignOrigin | undefined {
    if (!this.isForeign(request)) return undefined
    const { origin } = request.headers
    return new Failure.ForeignOrigin({
      message: `a page of ${origin === undefined ? "another site" : shown(origin)} may not ${this.#words.pages}`,
    })
  }

  /** Whether a page of another site asks. Images, scripts and links have no `Origin`, but the browser says from where they come. */
  isForeign(request: IncomingMessage): boolean {
    const { origin, "sec-fetch-site": site } = request.headers
    return origin === undefined ? site !== undefined && !OWN_SITES.has(site) : !this.#isOwnPage(origin, request)
  }

  #isOwn(name: string): boolean {
    return isLocal(name) || this.#names.has(name)
  }

  /**
   * The node's own page has the name in `Host`. That proves something only where no page can make its name lead here: an
   * address is no name, and a proxy has told apart the names that it serves.
   */
  #isOwnPage(origin: string, request: IncomingMessage): boolean {
    const name = hostOfOrigin(origin)
    if (name === undefined) return false
    if (this.#isOwn(name)) return true
    return name === hostOf(request.headers.host ?? "") && (isIP(name) !== 0 || this.#isProxied(request))
  }
}
