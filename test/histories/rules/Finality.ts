/** A final transaction stays final, with the same outcome everywhere, and every accepted one becomes final. */
import { Array as List } from "effect"
import { binding, type Final, type History, type Of, of, short, type Violation } from "../History.js"

type Told = Of<"lookup"> & { readonly found: Final }

const isFinal = (lookup: Of<"lookup">): lookup is Told => lookup.found.status === "finalized"

export const finals = (history: History): ReadonlyMap<string, Final> =>
  new Map(
    of(history, "lookup")
      .filter(isFinal)
      .map(({ hash, found }) => [hash, found]),
  )

const sameEverywhere = (told: ReadonlyArray<Told>): ReadonlyArray<Violation> => {
  const first = new Map<string, Told>()
  return told.flatMap((lookup) => {
    const other = first.get(lookup.hash) ?? lookup
    first.set(lookup.hash, other)
    const [a, b] = [JSON.stringify(other.found), JSON.stringify(lookup.found)]
    return a === b
      ? []
      : [{ rule: "changed", what: `${short(lookup.hash)} is ${a} at ${other.node} and ${b} at ${lookup.node}` }]
  })
}

/** An event says as much as a lookup. */
const neverDisappears = (history: History, told: ReadonlyArray<Told>): ReadonlyArray<Violation> => {
  const isBound = binding(history)
  const heard = of(history, "event").map(({ node, at, hash }) => ({
    ...{ node, hash, began: at, ended: at, floor: null, commit: null },
  }))
  const byHash = List.groupBy([...told, ...heard], ({ hash }) => hash)
  return of(history, "lookup").flatMap((lookup) => {
    const before = isFinal(lookup) ? undefined : byHash[lookup.hash]?.find((earlier) => isBound(earlier, lookup))
    if (before === undefined) return []
    const what = `${short(lookup.hash)} was final at ${before.node} at ${before.ended}, and ${lookup.found.status} at ${lookup.node} at ${lookup.began}`
    return [{ rule: "disappeared", what }]
  })
}

/** One outcome per nonce, and events agree with lookups. */
const appliedOnce = (history: History, final: ReadonlyMap<string, Final>): ReadonlyArray<Violation> => {
  const taken = new Map<string, string>()
  const sent = new Map(of(history, "submit").map(({ transaction }) => [transaction.hash, transaction]))
  const twice = [...final.keys()].flatMap((hash) => {
    const transaction = sent.get(hash)
    if (transaction === undefined) return [{ rule: "from nowhere", what: `${short(hash)} is final and nobody sent it` }]
    const nonce = `${transaction.from}/${transaction.nonce}`
    const other = taken.get(nonce)
    taken.set(nonce, hash)
    return other === undefined
      ? []
      : [{ rule: "twice", what: `${short(hash)} and ${short(other)} used the same nonce ${nonce}` }]
  })
  const unlike = of(history, "event").flatMap(({ hash, applied, node }) => {
    const outcome = final.get(hash)
    return outcome === undefined || outcome.applied === applied
      ? []
      : [{ rule: "changed", what: `${short(hash)}: applied is ${applied} in an event of ${node}, not in a lookup` }]
  })
  return [...twice, ...unlike]
}

/** Judged only if the run waited for the end. */
const comesToAnEnd = (history: History, final: ReadonlyMap<string, Final>): ReadonlyArray<Violation> => {
  if (of(history, "settled").length === 0) return []
  const submits = of(history, "submit")
  const used = new Set(
    submits
      .filter(({ transaction }) => final.has(transaction.hash))
      .map(({ transaction: { from, nonce } }) => `${from}/${nonce}`),
  )
  const reasons = new Set(
    of(history, "lookup").flatMap(({ hash, found }) =>
      found.status === "missing" && found.reason !== null ? [hash] : [],
    ),
  )
  const accepted = new Map(
    submits.filter(({ answer }) => answer === "accepted").map(({ transaction }) => [transaction.hash, transaction]),
  )
  return [...accepted].flatMap(([hash, { from, nonce }]) =>
    final.has(hash) || used.has(`${from}/${nonce}`) || reasons.has(hash)
      ? []
      : [{ rule: "unfinished", what: `${short(hash)} was accepted, and nobody says what became of it` }],
  )
}

/** Everybody was asked until they knew, so whoever does not know stands still. */
const nobodyIsBehind = (history: History, final: ReadonlyMap<string, Final>): ReadonlyArray<Violation> => {
  if (of(history, "settled").length === 0) return []
  const last = new Map(of(history, "lookup").map((lookup) => [`${lookup.node} ${lookup.hash}`, lookup]))
  const behind = new Map(
    [...last.values()].flatMap((lookup) =>
      isFinal(lookup) || !final.has(lookup.hash) ? [] : [[lookup.node, lookup] as const],
    ),
  )
  return [...behind].map(([node, { hash, found }]) => ({
    ...{ rule: "behind", what: `${short(hash)} is final, and still ${found.status} at ${node} at the end` },
  }))
}

export const judge = (history: History): ReadonlyArray<Violation> => {
  const told = of(history, "lookup").filter(isFinal)
  const final = finals(history)
  return [
    ...sameEverywhere(told),
    ...neverDisappears(history, told),
    ...appliedOnce(history, final),
    ...comesToAnEnd(history, final),
    ...nobodyIsBehind(history, final),
  ]
}
