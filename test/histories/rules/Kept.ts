/** A node knows what it accepted, and counts it. */
import { Array as List } from "effect"
import { type History, type Of, of, short, type Violation } from "../History.js"

/** A killed node may forget what it accepted in this time before: it keeps what has waited for a second. */
const UNKEPT_MS = 2_000
/** Faults that end a process without its last writes, and how long they take. */
const LOSSES: ReadonlyMap<string, number> = new Map([
  ["kill", 500],
  ["two nodes at one signer", 500],
  ["full disk", 10_000],
])

type Told = Of<"submit"> | Of<"lookup">
type Question = Of<"lookup"> | Of<"balance">

const hashOf = (told: Told): string => (told.kind === "submit" ? told.transaction.hash : told.hash)

const isWaiting = (told: Told): boolean =>
  told.kind === "submit" ? told.answer === "accepted" : told.found.status === "pending"

/** Whether a node must still know what it said was waiting there. Gateways keep nothing. */
const keeping = (history: History) => {
  const faults = of(history, "fault")
  return (told: Told, { node, began, ended, commit }: Question): boolean => {
    if (told.node !== node || told.ended >= began || commit !== null) return false
    return !faults.some(({ node, at, fault }) => {
      if (node !== told.node) return false
      if (fault === "restore") return at >= told.began && at <= ended
      const lasts = LOSSES.get(fault)
      return lasts !== undefined && told.ended > at - UNKEPT_MS && told.ended < at + lasts && at <= ended
    })
  }
}

export const judge = (history: History): ReadonlyArray<Violation> => {
  const isKept = keeping(history)
  const waiting = List.groupBy([...of(history, "submit"), ...of(history, "lookup")].filter(isWaiting), hashOf)
  const before = (hash: string, question: Question) => waiting[hash]?.find((told) => isKept(told, question))
  const forgotten = of(history, "lookup").flatMap((lookup): ReadonlyArray<Violation> => {
    if (lookup.found.status !== "missing" || lookup.found.reason !== null) return []
    const told = before(lookup.hash, lookup)
    if (told === undefined) return []
    const what = `${short(lookup.hash)} waited at ${told.node} at ${told.ended}, and is missing there at ${lookup.began}`
    return [{ rule: "forgotten", what }]
  })
  const bySlot = new Map(
    of(history, "submit").map(({ transaction: { from, nonce, hash } }) => [`${from}/${nonce}`, hash]),
  )
  const uncounted = of(history, "balance").flatMap((balance): ReadonlyArray<Violation> => {
    const { address, nonce, nextNonce, node, began } = balance
    const hash = nonce === nextNonce ? bySlot.get(`${address}/${nonce}`) : undefined
    if (hash === undefined || before(hash, balance) === undefined) return []
    const what = `${short(address)} at ${node} at ${began}: next nonce ${nextNonce}, and ${short(hash)} with it waits there`
    return [{ rule: "nonce", what }]
  })
  return [...forgotten, ...uncounted]
}
