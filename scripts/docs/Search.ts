/** The site's search. Runs in the browser and in its test. */
import MiniSearch from "minisearch"

export interface Entry {
  /** From the top of the site, with its anchor. */
  readonly address: string
  readonly page: string
  readonly title: string
  readonly words: string
  /** Synonyms. */
  readonly also?: string
}

export interface Found {
  readonly entry: Entry
  /** The text around the first match. */
  readonly excerpt: string
}

const LENGTH = 140

const excerptOf = (words: string, terms: ReadonlyArray<string>): string => {
  const lower = words.toLowerCase()
  const at = Math.min(...terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0))
  const from = !Number.isFinite(at) || at < LENGTH / 3 ? 0 : words.lastIndexOf(" ", at - LENGTH / 3) + 1
  const to = from + LENGTH < words.length ? words.lastIndexOf(" ", from + LENGTH) : words.length
  return `${from > 0 ? "… " : ""}${words.slice(from, to)}${to < words.length ? " …" : ""}`
}

/** Matches beginnings of words, and longer words with one wrong letter. */
export const over = (entries: ReadonlyArray<Entry>): ((asked: string) => ReadonlyArray<Found>) => {
  const index = new MiniSearch<Entry & { readonly id: number }>({ fields: ["title", "page", "words", "also"] })
  index.addAll(entries.map((entry, id) => ({ ...entry, id })))
  const how = {
    prefix: true,
    fuzzy: (term: string) => (term.length > 5 ? 1 : false),
    boost: { also: 20, title: 4, page: 2 },
  }
  return (asked) => {
    // Entries with all words come first, if there are any.
    const all = index.search(asked, { ...how, combineWith: "AND" })
    const found = all.length > 0 ? all : index.search(asked, how)
    return found.slice(0, 20).flatMap(({ id, terms }) => {
      const entry = entries[id]
      return entry === undefined ? [] : [{ entry, excerpt: excerptOf(entry.words, terms) }]
    })
  }
}
