/**
 * The package's documentation as plain Markdown, for coding assistants: `/llms.txt` lists it, and each page is at the
 * path of its file. It describes this version. A megabyte of text stays in memory.
 */
import { fileURLToPath } from "node:url"
import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import * as OpenApiDocument from "../documents/OpenApiDocument.js"
import * as ReferenceText from "../documents/ReferenceText.js"
import * as Site from "./Site.js"

const LIST = "docs/llms.txt"
/** Made from the code, as on the documentation site. */
const ENDPOINTS = "/docs/endpoints.md"
const SERVED = /\.(?:md|json|svg)$/

/** The package's root, seen from the bundle, and from a module, built or not. */
const places = ["../", "../../../"].map((place) => fileURLToPath(new URL(place, import.meta.url)))

/** The pages by path. The page of endpoints is made at the first request. */
export const make = (contents: ReadonlyMap<string, Uint8Array>, endpoints: () => string): Site.Site => {
  const files = new Map([...contents].map(([path, content]) => [path, new Site.File(path, content)] as const))
  return (path, request) => {
    if (path === ENDPOINTS && !files.has(path))
      files.set(path, new Site.File(path, new TextEncoder().encode(endpoints())))
    return files.get(path)?.answer(request)
  }
}

/** All pages of the package at this path. */
export const within = (top: string) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const names = yield* fileSystem.readDirectory(`${top}docs`, { recursive: true })
    const docs = names.filter((name) => SERVED.test(name)).map((name) => `docs/${name.replaceAll("\\", "/")}`)
    const read = (path: string, name: string) =>
      Effect.map(fileSystem.readFile(`${top}${name}`), (content) => [path, content] as const)
    const all = [
      read("/llms.txt", LIST),
      read("/README.md", "README.md"),
      ...docs.map((name) => read(`/${name}`, name)),
    ]
    return new Map(yield* Effect.all(all, { concurrency: 16 }))
  })

/** The package's pages. A node without them runs all the same and still describes its endpoints. */
export const built = (version: string) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    for (const top of places) if (yield* fileSystem.exists(`${top}${LIST}`)) return yield* within(top)
    return new Map<string, Uint8Array>()
  }).pipe(
    Effect.orElseSucceed(() => new Map<string, Uint8Array>()),
    Effect.map((contents) => make(contents, () => ReferenceText.text(OpenApiDocument.make(version)))),
  )
