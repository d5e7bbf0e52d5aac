/** Interprets the search box's text. Pure, except for requests to the node. */
import * as Route from "../route/Route.js"

/** A possible meaning of the text. */
export interface Match {
  readonly kind: "Page" | "Label" | "Round" | "Proposal" | "Name" | "Account" | "Transaction" | "Vertex"
  readonly text: string
  readonly href: string
}

/** The result of a search. */
export type Found =
  | { readonly _tag: "Page"; readonly href: string }
  /** Several things begin with the text. */
  | { readonly _tag: "Several"; readonly matches: ReadonlyArray<Match> }
  /** Why nothing was found. */
  | { readonly _tag: "Nothing"; readonly complaint: string }

export interface Beginning {
  readonly names: ReadonlyArray<{ readonly name: string }>
  readonly accounts: ReadonlyArray<string>
  readonly transactions: ReadonlyArray<string>
  readonly vertices: ReadonlyArray<string>
}

/** Requests: does the node have this? */
export interface Known {
  readonly proposal: (id: string) => Promise<boolean>
  readonly newestRound: () => number
  /** An address in the pages' form. */
  readonly written: (address: string) => string
  readonly transaction: (hash: string) => Promise<boolean>
  readonly vertex: (hash: string) => Promise<boolean>
  readonly name: (name: string) => Promise<boolean>
  readonly beginningWith: (text: string) => Promise<Beginning>
  /** The reader's labels that contain the text. */
  readonly labelled: (text: string) => ReadonlyArray<{ readonly address: string; readonly label: string }>
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

type Beginnings = Pick<Known, "beginningWith" | "written">

/** A beginning, and the end if a list abbreviated it. */
const BEGINNING = /^(@?[0-9a-z-]{3,64})(?:…([0-9a-z]+))?$/

/** Accounts in the pages' form. */
const matchesOf = async (text: string, { beginningWith, written }: Beginnings): Promise<ReadonlyArray<Match>> => {
  const [, beginning, end] = BEGINNING.exec(text) ?? []
  if (beginning === undefined) return []
  const { names, accounts, transactions, vertices } = await beginningWith(beginning)
  const ends = (whole: string): boolean => end === undefined || whole.endsWith(end)
  const match = (kind: Match["kind"], subject: Route.Subject) => (of: string, text: string) => ({
    ...{ kind, text, href: Route.subject(subject, of) },
  })
  const [name, account] = [match("Name", "address"), match("Account", "address")]
  const [transaction, vertex] = [match("Transaction", "tx"), match("Vertex", "vertex")]
  return [
    ...(end === undefined ? names.map(({ name: one }) => name(`@${one}`, `@${one}`)) : []),
    ...accounts
      .filter((address) => ends(address) || ends(written(address)))
      .map((address) => account(address, written(address))),
    ...transactions.filter(ends).map((hash) => transaction(hash, hash)),
    ...vertices.filter(ends).map((hash) => vertex(hash, hash)),
  ]
}

/** Things that begin with the text. Several are a choice, unless one is a name equal to the text. */
const byBeginning = async (text: string, known: Known): Promise<Found | undefined> => {
  const matches = await matchesOf(text, known)
  const [first] = matches
  if (first === undefined) return undefined
  const isName = matches.every(({ kind }) => kind === "Name") && first.text === `@${text.replace(/^@/, "")}`
  return isName || matches.length === 1 ? page(first.href) : { _tag: "Several", matches }
}

type Suggesting = Beginnings & Pick<Known, "proposal" | "newestRound" | "labelled">

/** Rounds and proposals that exist. */
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

/** Suggestions while the text is typed. */
export const suggest = async (typed: string, known: Suggesting): Promise<ReadonlyArray<Match>> => {
  const text = typed.trim().toLowerCase()
  if (text === "") return []
  const places = Route.places.filter((place) => place.startsWith(text))
  const found = await Promise.all([numbered(text, known), matchesOf(text, known)])
  return [
    ...places.map((place) => ({ kind: "Page", text: place, href: Route.place(place) }) as const),
    ...known
      .labelled(text)
      .map(({ address, label }) => ({ kind: "Label", text: label, href: Route.subject("address", address) }) as const),
    ...found.flat(),
  ]
}

const WHOLE_ADDRESS = /^t?udg1[0-9a-z]{38}$/i
const DIGITS = /^[0-9a-f]{4,63}$/
const NAME = /^@?[a-z0-9-]{3,20}$/

/** Finds the page for a hash, address, @name, round, #proposal, epoch or page name. */
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
  const [, epoch] = /^epoch\s*(\d{1,15})$/i.exec(text) ?? []
  if (epoch !== undefined) return page(Route.subject("epoch", epoch))
  if (text === "") return nothing("nothing was entered")
  const lower = text.toLowerCase()
  const begun = await byBeginning(lower, known)
  if (begun !== undefined) return begun
  const begins = `this node knows nothing that begins with ${text}`
  const unnamed = `@${lower.replace(/^@/, "")} is not registered`
  if (NAME.test(lower))
    return byName(lower.replace(/^@?/, "@"), known, DIGITS.test(lower) ? `${begins}, and ${unnamed}` : unnamed)
  return nothing(BEGINNING.test(lower) ? begins : `"${text}" is not something this explorer can look up`)
}
