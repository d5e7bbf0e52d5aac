/** Interprets the text in the search box. Pure, except for the questions to the node. */
import * as Route from "../route/Route.js"
import * as Beginnings from "./Beginning.js"

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
  readonly proposal: (id: string) => Promise<boolean>
  readonly newestRound: () => number
  /** An address as the pages show it. */
  readonly written: (address: string) => string
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

type Digits = Pick<Known, "beginningWith" | "written">

/** Accounts in the form in which the pages show them, unless hex was typed. */
const matchesOf = async (text: string, { beginningWith, written }: Digits): Promise<ReadonlyArray<Match>> => {
  const beginning = Beginnings.read(text)
  if (beginning === undefined) return []
  const { digits, fits } = beginning
  const { accounts, transactions, vertices } = await beginningWith(digits)
  return [
    ...accounts
      .filter((address) => fits(address) || fits(written(address)))
      .map(
        (address) => ({ kind: "Account", text: written(address), href: Route.subject("address", address) }) as const,
      ),
    ...transactions
      .filter(fits)
      .map((hash) => ({ kind: "Transaction", text: hash, href: Route.subject("tx", hash) }) as const),
    ...vertices
      .filter(fits)
      .map((hash) => ({ kind: "Vertex", text: hash, href: Route.subject("vertex", hash) }) as const),
  ]
}

/** What begins so; several things are a choice. */
const byBeginning = async (text: string, known: Known): Promise<Found | undefined> => {
  const matches = await matchesOf(text, known)
  const [first] = matches
  if (first === undefined) return undefined
  return matches.length === 1 ? page(first.href) : { _tag: "Several", matches }
}

type Suggesting = Digits & Pick<Known, "name" | "proposal" | "newestRound">

const NAME = /^@?[a-z0-9-]{3,20}$/

/** Names that begin so and that the page has met, and the one that is exactly this. */
const called = async (text: string, known: Suggesting, names: ReadonlyArray<string>): Promise<ReadonlyArray<Match>> => {
  const typed = text.replace(/^@/, "")
  const met = names.filter((name) => name.startsWith(typed)).slice(0, 5)
  const isAnother = NAME.test(text) && !met.includes(typed) && (await known.name(`@${typed}`))
  return [...(isAnother ? [typed] : []), ...met].map((name) => ({
    ...{ kind: "Name", text: `@${name}`, href: Route.subject("address", `@${name}`) },
  }))
}

/** A round that was reached, and a proposal that was made. */
const numbered = async (text: string, known: Suggesting): Promise<ReadonlyArray<Match>> => {
  const [, sign, number] = /^(#?)(\d{1,15})$/.exec(text.replaceAll(",", "")) ?? []
  if (number === undefined) return []
  const isRound = sign === "" && Number(number) <= known.newestRound()
  const isProposal = number.length < 7 && (await known.proposal(number))
  return [
    ...(isRound ? [{ kind: "Round", text: number, href: Route.subject("round", number) } as const] : []),
    ...(isProposal ? [{ kind: "Proposal", text: `#${number}`, href: Route.subject("proposal", number) } as const] : []),
  ]
}

/** What may be meant by a text that is still being typed. `names` are those that the page has met. */
export const suggest = async (
  typed: string,
  known: Suggesting,
  names: ReadonlyArray<string>,
): Promise<ReadonlyArray<Match>> => {
  const text = typed.trim().toLowerCase()
  if (text === "") return []
  const places = Route.places.filter((place) => place.startsWith(text))
  const found = await Promise.all([numbered(text, known), called(text, known, names), matchesOf(text, known)])
  return [...places.map((place) => ({ kind: "Page", text: place, href: Route.place(place) }) as const), ...found.flat()]
}

const WHOLE_ADDRESS = /^t?udg1[0-9a-z]{38}$/i

/** Finds the page for a text: a hash, an address, a @name, a round, a #proposal, or a page. */
export const find = async (typed: string, known: Known): Promise<Found> => {
  const text = typed.trim()
  const place = placeNamed(text)
  if (place !== undefined) return page(Route.place(place))
  if (/^[0-9a-f]{64}$/i.test(text)) return byHash(text.toLowerCase(), known)
  if (/^[0-9a-f]{40}$/i.test(text) || WHOLE_ADDRESS.test(text)) return page(Route.subject("address", text))
  const round = text.replaceAll(/[\s,]/g, "")
  if (/^\d{1,15}$/.test(round)) return page(Route.subject("round", round))
  const [, proposal] = /^(?:#|proposal )\s*(\d{1,15})$/i.exec(text) ?? []
  if (proposal !== undefined) return page(Route.subject("proposal", proposal))
  const isBeginning = Beginnings.read(text.toLowerCase()) !== undefined
  const begun = isBeginning ? await byBeginning(text.toLowerCase(), known) : undefined
  if (begun !== undefined) return begun
  const name = `@${text.replace("@", "").toLowerCase()}`
  const unnamed = `${name} is not registered on this node`
  const unknown = isBeginning ? `nothing that this node knows begins with ${text}, and ${unnamed}` : unnamed
  if (/^@?[a-z0-9-]{3,20}$/i.test(text)) return byName(name, known, unknown)
  if (isBeginning) return nothing(`nothing that this node knows begins with ${text}`)
  return nothing(text === "" ? "nothing was entered" : `"${text}" is not something this explorer can look up`)
}
