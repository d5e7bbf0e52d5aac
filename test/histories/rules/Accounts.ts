/** Balances and statements follow from the transactions, and no node returns to an earlier state. */
import { type Asked, type Final, type History, type Of, of, short, type Violation } from "../History.js"
import { Told } from "../Told.js"
import { finals } from "./Finality.js"

/** An account after a number of its transactions. */
interface State {
  readonly balance: number
  readonly nonce: number
}

interface Life {
  readonly address: string
  /** Oldest first. */
  readonly hashes: ReadonlyArray<string>
  /** The position of each hash. */
  readonly places: ReadonlyMap<string, number>
  /** One more than there are transactions. */
  readonly states: ReadonlyArray<State>
}

type Known = ReadonlyMap<string, Of<"submit">["transaction"]>

const changeOf = (
  address: string,
  { from, to, amount, fee }: Of<"submit">["transaction"],
  applied: boolean,
): number => {
  const sent = from === address ? -fee - (applied ? amount : 0) : 0
  return sent + (to === address && applied ? amount : 0)
}

const lifeOf = (
  address: string,
  balance: number,
  hashes: ReadonlyArray<string>,
  known: Known,
  final: ReadonlyMap<string, Final>,
): Life => {
  const states: Array<State> = [{ balance, nonce: 0 }]
  let state: State = { balance, nonce: 0 }
  for (const hash of hashes) {
    const transaction = known.get(hash)
    if (transaction !== undefined) {
      const change = changeOf(address, transaction, final.get(hash)?.applied ?? true)
      const isSent = transaction.from === address
      state = { balance: state.balance + change, nonce: state.nonce + (isSent ? 1 : 0) }
    }
    states.push(state)
  }
  return { address, hashes, places: new Map(hashes.map((hash, i) => [hash, i])), states }
}

const oldestFirst = ({ entries }: Of<"statement">): ReadonlyArray<string> => entries.map(({ hash }) => hash).reverse()

/** The number of transactions up to the end of a statement; a partial one ends with its newest entry. */
const lengthOf = ({ entries, isWhole }: Of<"statement">, { places }: Life): number => {
  const [newest] = entries
  return isWhole || newest === undefined ? entries.length : (places.get(newest.hash) ?? -1) + 1
}

const statementsOf = (
  history: History,
  address: string,
  life: Life,
  known: Known,
  final: ReadonlyMap<string, Final>,
): ReadonlyArray<Violation> =>
  of(history, "statement")
    .filter((one) => one.address === address)
    .flatMap((statement) => {
      const where = `statement of ${short(address)} at ${statement.node} at ${statement.began}`
      const hashes = oldestFirst(statement)
      const length = lengthOf(statement, life)
      const first = length - hashes.length
      const wrong = hashes.findIndex((hash, i) => hash !== life.hashes[first + i])
      if (wrong >= 0) return [{ rule: "statement", what: `${where} is no part of the longest, from ${wrong} on` }]
      const entry = statement.entries.find(({ hash, change }) => {
        const transaction = known.get(hash)
        return transaction === undefined || change !== changeOf(address, transaction, final.get(hash)?.applied ?? true)
      })
      if (entry !== undefined)
        return [{ rule: "statement", what: `${where}: ${short(entry.hash)} changed it by ${entry.change}` }]
      const expected = life.states[length]?.balance
      return expected === statement.balance
        ? []
        : [{ rule: "statement", what: `${where}: ${statement.balance}, and its entries make ${expected}` }]
    })

interface Observation {
  readonly asked: Pick<Asked, "node" | "began" | "ended" | "floor" | "commit">
  /** The numbers of transactions after which the account can be in this state, or the lowest such number. */
  readonly possible: ReadonlyArray<number> | { readonly from: number }
  readonly what: string
}

const observationsOf = (history: History, life: Life): ReadonlyArray<Observation> => {
  const bySum = new Map<string, Array<number>>()
  for (const [i, { balance, nonce }] of life.states.entries()) {
    const same = bySum.get(`${balance} ${nonce}`) ?? []
    same.push(i)
    bySum.set(`${balance} ${nonce}`, same)
  }
  return history.flatMap((line): ReadonlyArray<Observation> => {
    if (line.kind === "balance" && line.address === life.address) {
      const possible = bySum.get(`${line.balance} ${line.nonce}`) ?? []
      return [{ asked: line, possible, what: `balance ${line.balance}, nonce ${line.nonce}` }]
    }
    if (line.kind === "statement" && line.address === life.address)
      return [{ asked: line, possible: [lengthOf(line, life)], what: `statement of ${line.entries.length}` }]
    // A lookup or an event shows that the account is at least at this transaction.
    if (line.kind === "event" || (line.kind === "lookup" && line.found.status === "finalized")) {
      const at = life.places.get(line.hash)
      const asked =
        line.kind === "lookup" ? line : { ...line, began: line.at, ended: line.at, floor: null, commit: null }
      return at === undefined ? [] : [{ asked, possible: { from: at + 1 }, what: line.kind }]
    }
    return []
  })
}

const neverGoesBack = (history: History, life: Life): ReadonlyArray<Violation> => {
  const isSettled = of(history, "settled").length > 0
  const began = new Map<string, number>()
  for (const { transaction, began: at } of of(history, "submit"))
    began.set(transaction.hash, Math.min(at, began.get(transaction.hash) ?? at))
  const told = new Told(history)
  const inOrder = [...observationsOf(history, life)].sort((a, b) => a.asked.began - b.asked.began)
  return inOrder.flatMap(({ asked, possible, what }) => {
    const where = `${what} of ${short(life.address)} at ${asked.node} at ${asked.began}`
    if ("from" in possible) {
      told.tell(asked, possible.from)
      return []
    }
    // In an unfinished history the statements may end before the balances.
    if (possible.length === 0) return isSettled ? [{ rule: "balance", what: `${where}: it was never so` }] : []
    const least = told.least(asked)
    const index = possible.find((each) => each >= least)
    told.tell(asked, index ?? least)
    if (index === undefined)
      return [
        { rule: "stale", what: `${where}: ${least} transactions were told before, this is after ${possible.at(-1)}` },
      ]
    const newest = life.hashes[index - 1]
    return newest !== undefined && (began.get(newest) ?? 0) > asked.ended
      ? [{ rule: "early", what: `${where} has ${short(newest)}, which nobody had sent yet` }]
      : []
  })
}

const nonces = (history: History, address: string): ReadonlyArray<Violation> => {
  const submits = of(history, "submit")
    .filter(({ transaction: { from } }) => from === address)
    .sort((a, b) => a.began - b.began)
    .values()
  let next = submits.next()
  let highest = 0
  return of(history, "balance")
    .filter((one) => one.address === address)
    .sort((a, b) => a.ended - b.ended)
    .flatMap(({ nonce, nextNonce, node, began, ended }) => {
      for (; next.done !== true && next.value.began <= ended; next = submits.next())
        highest = Math.max(highest, next.value.transaction.nonce + 1)
      return nonce <= nextNonce && nextNonce <= highest
        ? []
        : [
            {
              rule: "nonce",
              what: `${short(address)} at ${node} at ${began}: next nonce ${nextNonce}, of ${nonce} used and ${highest} sent`,
            },
          ]
    })
}

const everythingListed = (history: History, life: Life, known: Known, final: ReadonlyMap<string, Final>) =>
  of(history, "settled").length === 0
    ? []
    : [...final.keys()].flatMap((hash) => {
        const transaction = known.get(hash)
        const outcome = final.get(hash)
        const concerns =
          transaction?.from === life.address || (transaction?.to === life.address && outcome?.applied === true)
        return concerns && !life.places.has(hash)
          ? [{ rule: "statement", what: `${short(hash)} is final and in no statement of ${short(life.address)}` }]
          : []
      })

export const judge = (history: History): ReadonlyArray<Violation> => {
  const known: Known = new Map(of(history, "submit").map(({ transaction }) => [transaction.hash, transaction]))
  const final = finals(history)
  return Object.entries(of(history, "genesis")[0]?.accounts ?? {}).flatMap(([address, balance]) => {
    const longest = of(history, "statement")
      .filter((one) => one.address === address && one.isWhole)
      .map(oldestFirst)
      .reduce((most, one) => (one.length > most.length ? one : most), [])
    const life = lifeOf(address, balance, longest, known, final)
    const places = new Map(longest.map((hash, i) => [hash, i]))
    const repeated = longest.filter((hash, i) => places.get(hash) !== i)
    return [
      ...repeated.map((hash) => ({ rule: "twice", what: `${short(hash)} twice in a statement of ${short(address)}` })),
      ...statementsOf(history, address, life, known, final),
      ...neverGoesBack(history, life),
      ...nonces(history, address),
      ...everythingListed(history, life, known, final),
    ]
  })
}
