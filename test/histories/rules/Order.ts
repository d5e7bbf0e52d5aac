/** All readers see one order, and an uninterrupted run of events misses none. */
import { Array as List } from "effect"
import { type History, type Of, of, short, type Violation } from "../History.js"

interface Run {
  readonly name: string
  readonly hashes: ReadonlyArray<string>
  readonly at: ReadonlyMap<string, number>
}

const runOf = (events: ReadonlyArray<Of<"event">>): Run => {
  const hashes = events.map(({ hash }) => hash)
  const [first] = events
  return {
    name: `run ${first?.run} of ${first?.node}`,
    hashes,
    at: new Map(hashes.map((hash, i) => [hash, i])),
  }
}

const repeated = ({ name, hashes, at }: Run): ReadonlyArray<Violation> =>
  hashes.flatMap((hash, i) => (at.get(hash) === i ? [] : [{ rule: "twice", what: `${short(hash)} twice in ${name}` }]))

/** Two consecutive events of one run are consecutive in every other run that has both. */
const compare = (run: Run, other: Run): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  let last: { readonly hash: string; readonly i: number; readonly at: number } | null = null
  for (const [i, hash] of run.hashes.entries()) {
    const at = other.at.get(hash)
    if (at === undefined) continue
    if (last !== null && at < last.at) {
      const what = `${short(last.hash)} before ${short(hash)} in ${run.name}, after it in ${other.name}`
      found.push({ rule: "order", what })
    } else if (last !== null && i === last.i + 1 && at > last.at + 1) {
      const lost = other.hashes.slice(last.at + 1, at).map(short)
      found.push({ rule: "lost event", what: `${run.name} has not ${lost.join(", ")}, which ${other.name} has` })
    }
    last = { hash, i, at }
  }
  return found
}

/** Each sender's nonces increase by one within a run, which can begin anywhere. */
const nonces = (history: History, { name, hashes }: Run): ReadonlyArray<Violation> => {
  const sent = new Map(of(history, "submit").map(({ transaction }) => [transaction.hash, transaction]))
  const next = new Map<string, number>()
  return hashes.flatMap((hash) => {
    const transaction = sent.get(hash)
    if (transaction === undefined) return []
    const expected = next.get(transaction.from) ?? transaction.nonce
    next.set(transaction.from, transaction.nonce + 1)
    if (transaction.nonce === expected) return []
    const rule = transaction.nonce > expected ? "lost event" : "order"
    return [{ rule, what: `${name} has nonce ${transaction.nonce} of ${short(transaction.from)}, not ${expected}` }]
  })
}

export const judge = (history: History): ReadonlyArray<Violation> => {
  const runs = Object.values(List.groupBy(of(history, "event"), ({ node, run }) => `${node} ${run}`)).map(runOf)
  return [
    ...runs.flatMap(repeated),
    ...runs.flatMap((run) => nonces(history, run)),
    ...runs.flatMap((run) => runs.flatMap((other) => (run === other ? [] : compare(run, other)))),
  ]
}
