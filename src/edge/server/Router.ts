/** Finds a path's route. Fixed paths win over patterns: `/tx/submit` is never a transaction's hash. */

export interface Route<A> {
  /** The path as defined, `/balance/:address`. */
  readonly path: string
  readonly byMethod: ReadonlyMap<string, A>
  /** The defined methods and those implied by them, for `Allow`. */
  readonly allowed: ReadonlyArray<string>
}

export interface Match<A> {
  readonly route: Route<A>
  /** Parameters as in the path, still escaped. */
  readonly params: Readonly<Record<string, string>>
}

export interface Definition<A> {
  readonly method: string
  readonly path: string
  readonly target: A
}

interface Pattern<A> {
  readonly segments: ReadonlyArray<string>
  readonly route: Route<A>
}

const NO_PARAMS: Readonly<Record<string, string>> = {}

const allowedWith = (methods: Iterable<string>): ReadonlyArray<string> => {
  const defined = [...methods]
  return [...defined, ...(defined.includes("GET") ? ["HEAD"] : []), "OPTIONS"]
}

const routesOf = <A>(definitions: ReadonlyArray<Definition<A>>): ReadonlyArray<Route<A>> => {
  const byPath = new Map<string, Map<string, A>>()
  for (const { method, path, target } of definitions) {
    const methods = byPath.get(path) ?? new Map<string, A>()
    if (methods.has(method)) throw new Error(`${method} ${path} is defined twice`)
    byPath.set(path, methods.set(method, target))
  }
  return [...byPath].map(([path, byMethod]) => ({ path, byMethod, allowed: allowedWith(byMethod.keys()) }))
}

const bind = (pattern: ReadonlyArray<string>, segments: ReadonlyArray<string>) => {
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (let i = 0; i < pattern.length; i++) {
    const expected = pattern[i] ?? ""
    const found = segments[i] ?? ""
    if (expected.startsWith(":")) {
      if (found === "") return undefined
      params[expected.slice(1)] = found
    } else if (expected !== found) return undefined
  }
  return params
}

export class Router<A> {
  readonly #fixed = new Map<string, Match<A>>()
  /** By first segment, so that a path is compared with few of them. */
  readonly #patterns = new Map<string, Array<Pattern<A>>>()

  constructor(definitions: ReadonlyArray<Definition<A>>) {
    for (const route of routesOf(definitions)) {
      if (!route.path.includes("/:")) {
        this.#fixed.set(route.path, { route, params: NO_PARAMS })
        continue
      }
      const segments = route.path.split("/")
      const first = segments[1] ?? ""
      const patterns = this.#patterns.get(first) ?? []
      patterns.push({ segments, route })
      this.#patterns.set(first, patterns)
    }
  }

  /** The route of a path without its query. */
  match(path: string): Match<A> | undefined {
    const fixed = this.#fixed.get(path)
    if (fixed !== undefined) return fixed
    const segments = path.split("/")
    for (const { segments: pattern, route } of this.#patterns.get(segments[1] ?? "") ?? []) {
      const params = bind(pattern, segments)
      if (params !== undefined) return { route, params }
    }
    return undefined
  }
}
