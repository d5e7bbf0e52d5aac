/**
 * The explorer's files and their paths. The page does its own routing, so every path below `/explorer/` that is not a
 * file gets the page; `/` redirects browsers there. Files stay in memory: there are a dozen.
 */
import type { IncomingMessage } from "node:http"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import * as Content from "../../edge/server/Content.js"
import type { Reply } from "../../edge/server/Reply.js"
import * as Log from "../../node/log/Log.js"

/** Answers for pages other than the endpoints. */
export type Site = (path: string, request: Pick<IncomingMessage, "headers">) => Reply | undefined

const log = Log.for("rpc")

const BASE = "/explorer/"
const INDEX = "index.html"

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  woff2: "font/woff2",
  md: "text/markdown; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  json: "application/json",
}

const redirect = (to: string): Reply => ({
  status: 302,
  headers: ["Location", to, "Vary", "Accept"],
  content: Content.text("text/plain; charset=utf-8", ""),
})

const accepts = ({ headers }: Pick<IncomingMessage, "headers">, name: "accept" | "accept-encoding", what: string) =>
  headers[name]?.includes(what) === true

/** The answer with a file, compressed once, at the first request that accepts it. */
export class File {
  readonly #bytes: Uint8Array
  readonly #contentOf: (bytes: Uint8Array) => Content.Content
  readonly #plain: Reply
  #compressed: Reply | undefined

  constructor(name: string, bytes: Uint8Array) {
    const type = contentTypes[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream"
    this.#bytes = bytes
    this.#contentOf = (bytes) => Content.file(type, Buffer.from(bytes), name.startsWith("assets/"))
    this.#plain = { status: 200, headers: ["Vary", "Accept-Encoding"], content: this.#contentOf(bytes) }
  }

  answer(request: Pick<IncomingMessage, "headers">): Reply {
    if (!accepts(request, "accept-encoding", "gzip")) return this.#plain
    this.#compressed ??= {
      status: 200,
      headers: [...this.#plain.headers, "Content-Encoding", "gzip"],
      content: this.#contentOf(gzipSync(this.#bytes, { level: 9 })),
    }
    return this.#compressed
  }
}

/** The site made of these files, by their paths below `/explorer/`. */
export const make = (contents: ReadonlyMap<string, Uint8Array>): Site => {
  const files = new Map([...contents].map(([name, content]) => [name, new File(name, content)] as const))
  return (path, request) => {
    if (path === "/") return accepts(request, "accept", "text/html") ? redirect(BASE) : undefined
    if (`${path}/` === BASE) return redirect(BASE)
    if (!path.startsWith(BASE)) return undefined
    const name = path.slice(BASE.length)
    // A missing asset must not get the page, which would be parsed as a broken script.
    const file = files.get(name) ?? (name.startsWith("assets/") ? undefined : files.get(INDEX))
    return file?.answer(request)
  }
}

/** Where the build puts the page, seen from the bundle, and from a module, built or not. */
const places = ["explorer/", "../../../dist/explorer/"].map((place) => fileURLToPath(new URL(place, import.meta.url)))

const read = (directory: string) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const contents = new Map<string, Uint8Array>()
    for (const name of yield* fileSystem.readDirectory(directory, { recursive: true })) {
      const file = `${directory}${name}`
      const { type } = yield* fileSystem.stat(file)
      if (type === "File") contents.set(name.replaceAll("\\", "/"), yield* fileSystem.readFile(file))
    }
    return contents
  })

/** Explains what is missing if the sources run without a built explorer. */
const unbuilt: Site = (path) =>
  path.startsWith(BASE)
    ? {
        status: 503,
        headers: [],
        content: Content.text(
          "text/plain; charset=utf-8",
          "the explorer is not built; run `npm run build` and start the node again\n",
        ),
      }
    : undefined

/** The explorer as built. A node whose explorer cannot be read runs all the same. */
export const built = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  for (const place of places) {
    if (yield* fileSystem.exists(`${place}${INDEX}`)) return make(yield* read(place))
  }
  return unbuilt
}).pipe(
  Effect.catchAll((error) =>
    Effect.as(
      log.warn("the explorer cannot be read", () => ({ reason: error.message })),
      unbuilt,
    ),
  ),
)
