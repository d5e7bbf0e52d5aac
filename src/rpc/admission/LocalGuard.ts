/**
 * The conditions for requests to a node that serves only its own machine. Web pages that are visited on the machine reach it
 * too. A page may even make its own name lead to 127.0.0.1 (DNS rebinding) and then count as the node's own page; its name
 * is still in `Host`. Requests through a trusted proxy are meant for the public, and are not judged here.
 */
import type { IncomingMessage } from "node:http"
import * as Failure from "../api/Failure.js"

export interface Options {
  /** The interface as it was named, `--rpc-host`. */
  readonly host: string
  /** Other names that lead to this machine, `--rpc-name`. */
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

const isLocal = (host: string): boolean => host === "localhost" || host.endsWith(".localhost") || isLoopback(host)

/** Whether it is neither a page of this machine nor of the name under which the node was asked. */
const isForeignOrigin = (origin: string, { headers: { host = "" } }: IncomingMessage): boolean => {
  const [, authority] = /^https?:\/\/([^/?#@]+)$/i.exec(origin) ?? []
  const name = authority === undefined ? undefined : hostOf(authority)
  return name === undefined || !(isLocal(name) || name === hostOf(host))
}

const PASSED_ON = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]

const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)

export class LocalGuard {
  readonly #names: ReadonlySet<string>
  readonly #isProxied: Options["isProxied"]
  #isLocal = false

  constructor({ host, names, isProxied }: Options) {
    this.#names = new Set([host, ...names].flatMap((name) => hostOf(name.includes(":") ? `[${name}]` : name) ?? []))
    this.#isProxied = isProxied
  }

  /** Takes the address that the server really has. */
  boundTo(address: string): void {
    this.#isLocal = isLoopback(address)
  }

  /** The refusal of a request under a name that is not this machine's. */
  refusalOfHost(request: IncomingMessage): Failure.ForeignHost | undefined {
    const { host } = request.headers
    // Browsers always send one. A name without a dot proves nothing: in a local network anybody can claim one.
    if (!this.#isLocal || host === undefined || host === "") return undefined
    const name = hostOf(host)
    if (name !== undefined && (isLocal(name) || this.#names.has(name))) return undefined
    if (this.#isProxied(request)) return undefined
    return new Failure.ForeignHost({
      message:
        `Host: ${shown(host)} is not a name of this machine, and the node serves no other one: ask 127.0.0.1 or ` +
        "localhost, or start the node with --rpc-name NAME, or with --trusted-proxy for a proxy in between",
    })
  }

  /** Whether a page from elsewhere asks. Images and links have no `Origin`; the browser then sends `Sec-Fetch-Site`. */
  isForeignPage(request: IncomingMessage): boolean {
    const { origin } = request.headers
    if (!this.#isLocal) return false
    const isForeign =
      origin === undefined ? request.headers["sec-fetch-site"] === "cross-site" : isForeignOrigin(origin, request)
    return isForeign && !this.#isProxied(request)
  }

  /**
   * Whether a program on this machine asks for itself. A proxy that passes requests on usually says so, trusted or not.
   */
  isOfThisMachine({ headers }: IncomingMessage): boolean {
    const isPassedOn = PASSED_ON.some((name) => headers[name] !== undefined)
    return this.#isLocal && !isPassedOn && isLocal(hostOf(headers.host ?? "") ?? "")
  }

  /** The refusal of a foreign page that would use what is meant for people at this machine. */
  refusalOfOrigin(request: IncomingMessage): Failure.ForeignOrigin | undefined {
    const { origin } = request.headers
    if (origin === undefined || !this.isForeignPage(request)) return undefined
    return new Failure.ForeignOrigin({
      message:
        `a page of ${shown(origin)} may not use this endpoint of a node that serves its own machine only: serve the ` +
        "page from localhost, or sign the transaction in it and send that to /tx/submit",
    })
  }
}
