/** Interprets the text in the search box. Pure, except for the questions to the node. */
import * as Route from "../route/Route.js"

/** Something that a text may mean. */
export interface Match {
  readonly kind: "Page" | "Round" | "Proposal" | "Name" | "Account" | "Transaction" | "Vertex"
  readonly text: string
  readonly href: string
}

/** The result of a search. */
export type Found =
  | { readonly _tag: "Page"; readonly href: string }
  /** It is the beginning of several things. */
  | { readonly _tag: "Several"; readonly matches: ReadonlyArray<Match> }
  /** Why there is no page for it. */
  | { readonly _tag: "Nothing"; readonly complaint: string }

export interface Beginning {
  readonly accounts: ReadonlyArray<string>
  readonly transactions: ReadonlyArray<string>
  readonly vertices: ReadonlyArray<string>
}

/** Questions to the node: does it have this? */
export interface Known {
  readonly transaction: (hash: string) => Promise<boolean>
  readonly vertex: (hash: string) => Promise<boolean>
  readonly name: (name: string) => Promise<boolean>
  readonly beginningWith: (digits: string) => Promise<Beginning>
}

const page = (href: string): Found => ({ _tag: "Page", href })
const nothing = (complaint: string): Found => ({ _tag: "Nothing", complaint })

const byHash = async (hash: string, known: Known): Promise<Found> => {
  const [isTransaction, isVertex] = await Promise.all([known.transaction(hash), known.vertex(hash)])
  if (isTransaction) return page(Route.subject("tx", hash))
  return isVertex ? page(Route.subject("vertex", hash)) : nothing(`this node knows no transaction or vertex ${hash}`)
}

const byName = async (name: string, known: Known, otherwise: string): Promise<Found> =>
  (await known.name(name)) ? page(Route.subject("address", name)) : nothing(otherwise)

const placeNamed = (text: string): Route.Place | undefined => Route.places.find((place) => place === text.toLowerCase())

const BEGINNING = /^[0-9a-f]{4,63}$/i

const matchesOf = ({ accounts, transactions, vertices }: Beginning): ReadonlyArray<Match> => [
  ...accounts.map((text) => ({ kind: "Account", text, href: Route.subject("address", text) }) as const),
  ...transactions.map((text) => ({ kind: "Transaction", text, href: Route.subject("tx", text) }) as const),
  ...vertices.map((text) => ({ kind: "Vertex", text, href: Route.subject("vertex", text) }) as const),
]

/** What begins with these digits; several things are a choice. */
const byBeginning = async (digits: string, known: Known): Promise<Found | undefined> => {
  const matches = matchesOf(await known.beginningWith(digits))
  const [first] = matches
  if (first === undefined) return undefined
  return matches.length === 1 ? page(first.href) : { _tag: "Several", matches }
}

/** What may be meant by a text that is still being typed. `names` are those that the page has met. */
export const suggest = async (
  typed: string,
  known: Pick<Known, "beginningWith">,
  names: ReadonlyArray<string>,
): Promise<ReadonlyArray<Match>> => {
  const text = typed.trim().toLowerCase()
  if (text === "") return []
  const places = Route.places.filter((place) => place.startsWith(text))
  const [, number] = /^#?(\d{1,15})$/.exec(text.replaceAll(",", "")) ?? []
  const called = names.filter((name) => name.startsWith(text.replace("@", ""))).slice(0, 5)
  const isNumber = number !== undefined
  return [
    ...places.map((place) => ({ kind: "Page", text: place, href: Route.place(place) }) as const),
    ...(isNumber && !text.startsWith("#")
      ? [{ kind: "Round", text: number, href: Route.subject("round", number) } as const]
      : []),
    ...(isNumber && number.length < 7
      ? [{ kind: "Proposal", text: `#${number}`, href: Route.subject("proposal", number) } as const]
      : []),
    ...called.map((name) => ({ kind: "Name", text: `@${name}`, href: Route.subject("address", `@${name}`) }) as const),
    ...(BEGINNING.test(text) ? matchesOf(await known.beginningWith(text)) : []),
  ]
}

/** Finds the page for a text: a hash, an address, a @name, a round, a #proposal, or a page. */
export const find = async (typed: string, known: Known): Promise<Found> => {
  const text = typed.trim()
  const place = placeNamed(text)
  if (place !== undefined) return page(Route.place(place))
  if (/^[0-9a-f]{64}$/i.test(text)) return byHash(text.toLowerCase(), known)
  if (/^[0-9a-f]{40}$/i.test(text) || /^t?udg1[0-9a-z]+$/i.test(text)) return page(Route.subject("address", text))
  const round = text.replaceAll(/[\s,]/g, "")
  if (/^\d{1,15}$/.test(round)) return page(Route.subject("round", round))
  const [, proposal] = /^(?:#|proposal )\s*(\d{1,15})$/i.exec(text) ?? []
  if (proposal !== undefined) return page(Route.subject("proposal", proposal))
  const isBeginning = BEGINNING.test(text)
  const begun = isBeginning ? await byBeginning(text.toLowerCase(), known) : undefined
  if (begun !== undefined) return begun
  const name = `@${text.replace("@", "").toLowerCase()}`
  const unnamed = `${name} is not registered on this node`
  const unknown = isBeginning ? `nothing that this node knows begins with ${text}, and ${unnamed}` : unnamed
  if (/^@?[a-z0-9-]{3,20}$/i.test(text)) return byName(name, known, unknown)
  if (isBeginning) return nothing(`nothing that this node knows begins with ${text}`)
  return nothing(text === "" ? "nothing was entered" : `"${text}" is not something this explorer can look up`)
}
