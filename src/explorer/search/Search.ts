/** Interprets the text in the search box. Pure, except for the questions to the node. */
import * as Route from "../route/Route.js"

/** The result of a search. */
export type Found =
  | { readonly _tag: "Page"; readonly href: string }
  /** Why there is no page for it. */
  | { readonly _tag: "Nothing"; readonly complaint: string }

/** Questions to the node: does it have this? */
export interface Known {
  readonly transaction: (hash: string) => Promise<boolean>
  readonly vertex: (hash: string) => Promise<boolean>
  readonly name: (name: string) => Promise<boolean>
}

const page = (href: string): Found => ({ _tag: "Page", href })
const nothing = (complaint: string): Found => ({ _tag: "Nothing", complaint })

const byHash = async (hash: string, known: Known): Promise<Found> => {
  const [isTransaction, isVertex] = await Promise.all([known.transaction(hash), known.vertex(hash)])
  if (isTransaction) return page(Route.subject("tx", hash))
  return isVertex ? page(Route.subject("vertex", hash)) : nothing(`this node knows no transaction or vertex ${hash}`)
}

const byName = async (name: string, known: Known): Promise<Found> =>
  (await known.name(name)) ? page(Route.subject("address", name)) : nothing(`${name} is not registered on this node`)

const placeNamed = (text: string): Route.Place | undefined => Route.places.find((place) => place === text.toLowerCase())

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
  if (/^@?[a-z0-9-]{3,20}$/i.test(text)) return byName(`@${text.replace("@", "").toLowerCase()}`, known)
  return nothing(text === "" ? "nothing was entered" : `"${text}" is not something this explorer can look up`)
}
