/** Converts paths into routes and routes into paths; nothing else does. */

/** Pages without a subject, by the last segment of their path. */
export const places = [
  "dag",
  "transactions",
  "charts",
  "accounts",
  "validators",
  "proposals",
  "mempool",
  "peers",
  "checkpoints",
  "parameters",
  "wallet",
] as const
export type Place = (typeof places)[number]

/** Pages about one thing, by the first segment of their path. */
export const subjects = ["address", "tx", "vertex", "round", "validator", "proposal", "checkpoint", "epoch"] as const
export type Subject = (typeof subjects)[number]

export type Route =
  | { readonly page: "overview" }
  | { readonly page: Place }
  | { readonly page: Subject; readonly of: string }
  /** A search to be resolved. */
  | { readonly page: "search"; readonly query: string }
  | { readonly page: "nowhere"; readonly path: string }

export const BASE = "/explorer/"

const isOne = <Name extends string>(names: ReadonlyArray<Name>, name: string | undefined): name is Name =>
  names.some((known) => known === name)

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The page at a path with its query. */
export const read = (path: string, query = ""): Route => {
  const parts = path
    .slice(BASE.length)
    .split("/")
    .filter((part) => part !== "")
    .map(decoded)
  const [first, second, third] = parts
  if (!path.startsWith(BASE) || third !== undefined) return { page: "nowhere", path }
  if (first === undefined) return { page: "overview" }
  if (second === undefined && first === "search") {
    return { page: "search", query: new URLSearchParams(query).get("q") ?? "" }
  }
  if (second === undefined && isOne(places, first)) return { page: first }
  if (second !== undefined && isOne(subjects, first)) return { page: first, of: second }
  return { page: "nowhere", path }
}

export const overview = BASE

export const place = (name: Place): string => `${BASE}${name}`

export const subject = (name: Subject, of: string | number): string =>
  `${BASE}${name}/${encodeURIComponent(of).replace("%40", "@")}`

export const search = (query: string): string => `${BASE}search?q=${encodeURIComponent(query)}`

/** The wallet with one of its actions selected and filled in. */
export const walletFor = (typed: Readonly<Record<string, string>>): string =>
  `${place("wallet")}?${new URLSearchParams(typed)}`

/** Finalized transactions of one type or account. */
export const transactionsOf = (filter: Readonly<Record<string, string>>): string => {
  const query = new URLSearchParams(filter).toString()
  return query === "" ? place("transactions") : `${place("transactions")}?${query}`
}

/** A vertex in the DAG view. */
export const inDag = (round: number, vertex: string): string => `${place("dag")}?round=${round}&vertex=${vertex}`
