/**
 * Restricts what web pages in a visitor's browser can ask of a node on the visitor's machine. Any page can reach it and
 * can even point its own name at 127.0.0.1 (DNS rebinding), but that name is then in `Host`, and in the `Origin` of its
 * POST requests. Programs send no `Origin`. Node.js' `fetch` sends `Sec-Fetch-Mode`, so that header identifies nobody.
 */
import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import * as Failure from "../definition/Failure.js"

/** Endings of two error messages, worded by the serving program. */
export interface Words {
  /** After "ask 127.0.0.1 or localhost, or": how to allow another name. */
  readonly names: string
  /** After "a page of another site may not": the action, and the alternative. */
  readonly pages: string
}

export interface Options {
  readonly words: Words
  /** The configured interface, `--rpc-host`. */
  readonly host: string
  /** Other names of this machine and of pages with the rights of its own: `--rpc-name`. */
  readonly names: ReadonlyArray<string>
  /** Whether the request came through a trusted proxy. */
  readonly isProxied: (request: IncomingMessage) => boolean
}

/** The host of an authority in lower case, without port and final dot; undefined if it is not an authority. */
const hostOf = (authority: string): string | undefined => {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(authority.trim()) ?? []
  return (bracketed ?? plain)?.toLowerCase().replace(/\.$/, "")
}

const isLoopback = (address: string): boolean =>
  /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address) || address === "::1" || address === "0:0:0:0:0:0:0:1"

/** Whether only this machine can reach the address. */
export const isLocal = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || isLoopback(host)

/** The host of a page's origin. */
const hostOfOrigin = (origin: string): string | undefined => {
  const [, authority] = /^https?:\/\/([^/?#@]+)$/i.exec(origin) ?? []
  return authority === undefined ? undefined : hostOf(authority)
}

const PASSED_ON = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]

/** Whether a local program asks a loopback server directly. Proxies usually add a header. */
export const isOfThisMachine = ({ headers }: IncomingMessage): boolean =>
  !PASSED_ON.some((name) => headers[name] !== undefined) && isLocal(hostOf(headers.host ?? "") ?? "")

/**
 * Whether a page made the browser ask, whichever page it is, and not the user by typing the address. `Sec-Fetch-Mode`
 * alone comes from Node.js' `fetch`.
 */
export const isOfPage = ({ headers }: IncomingMessage): boolean => {
  const { origin, "sec-fetch-site": site, "sec-fetch-dest": destination } = headers
  return origin !== undefined || (site !== "none" && (site !== undefined || destination !== undefined))
}

/** Raw headers alternate between names and values. */
const hostsIn = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === "host") count++
  }
  return count
}

/**
 * Refuses a request without exactly one `Host`, as HTTP/1.1 requires (RFC 9112, section 3.2): a proxy and this server
 * could otherwise choose different ones. HTTP/1.0 has no `Host`.
 */
export const refusalOfUnnamed = (request: IncomingMessage): Failure.InvalidRequest | undefined => {
  const count = hostsIn(request)
  if (count === 1 || (count === 0 && request.httpVersion === "1.0")) return undefined
  const message = `Host: expected exactly one such header, got ${count === 0 ? "none" : count}`
  return new Failure.InvalidRequest({ message, field: "host" })
}

/** What browsers send for their user and for the node's own pages. Programs send nothing. */
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

  /** Stores the address on which the server really listens. */
  boundTo(address: string): void {
    this.#isLocal = isLoopback(address)
  }

  /** Refuses a loopback request under a name that is not this machine's. */
  refusalOfHost(request: IncomingMessage): Failure.ForeignHost | undefined {
    const { host } = request.headers
    // Browsers always send Host. Names without a dot prove nothing: in a local network anyone can claim one.
    if (!this.#isLocal || host === undefined || host === "") return undefined
    const name = hostOf(host)
    if (name !== undefined && this.#isOwn(name)) return undefined
    if (this.#isProxied(request)) return undefined
    return new Failure.ForeignHost({
      message:
        `Host: ${shown(host)} is not a name of this machine, and this server answers no other; use 127.0.0.1 or ` +
        `localhost, or ${this.#words.names}`,
    })
  }

  /** Refuses another site's page that asks for coins, keys or signatures. */
  refusalOfPage(request: IncomingMessage): Failure.ForeignOrigin | undefined {
    if (!this.isForeign(request)) return undefined
    const { origin } = request.headers
    return new Failure.ForeignOrigin({
      message: `a page of ${origin === undefined ? "another site" : shown(origin)} may not ${this.#words.pages}`,
    })
  }

  /**
   * Whether another site's page asks. Images, scripts and links have no `Origin`, but Sec-Fetch-Site tells where they
   * come from.
   */
  isForeign(request: IncomingMessage): boolean {
    const { origin, "sec-fetch-site": site } = request.headers
    return origin === undefined ? site !== undefined && !OWN_SITES.has(site) : !this.#isOwnPage(origin, request)
  }

  #isOwn(name: string): boolean {
    return isLocal(name) || this.#names.has(name)
  }

  /**
   * The node's own page has the name in `Host`. That is proof only where no page can point its name here: for an
   * address, which is no name, and behind a proxy, which checks the names that it serves.
   */
  #isOwnPage(origin: string, request: IncomingMessage): boolean {
    const name = hostOfOrigin(origin)
    if (name === undefined) return false
    if (this.#isOwn(name)) return true
    return name === hostOf(request.headers.host ?? "") && (isIP(name) !== 0 || this.#isProxied(request))
  }
}
