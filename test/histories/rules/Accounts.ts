/** Balances and statements follow from the transactions, and nobody goes back to what was before. */
import { type Asked, binding, type Final, type History, type Of, of, short, type Violation } from "../History.js"
import { finals } from "./Finality.js"

/** An account after so many of its transactions. */
interface State {
  readonly balance: number
  readonly nonce: number
}

interface Life {
  readonly address: string
  /** Oldest first. */
  readonly hashes: ReadonlyArray<string>
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
  return { address, hashes, states }
}

const oldestFirst = ({ entries }: Of<"statement">): ReadonlyArray<string> => entries.map(({ hash }) => hash).reverse()

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
      const wrong = hashes.findIndex((hash, i) => hash !== life.hashes[i])
      if (wrong >= 0) return [{ rule: "statement", what: `${where} is no beginning of the longest, from ${wrong} on` }]
      const entry = statement.entries.find(({ hash, change }) => {
        const transaction = known.get(hash)
        return transaction === undefined || change !== changeOf(address, transaction, final.get(hash)?.applied ?? true)
      })
      if (entry !== undefined)
        return [{ rule: "statement", what: `${where}: ${short(entry.hash)} changed it by ${entry.change}` }]
      const expected = life.states[hashes.length]?.balance
      return expected === statement.balance
        ? []
        : [{ rule: "statement", what: `${where}: ${statement.balance}, and its entries make ${expected}` }]
    })

interface Observation {
  readonly asked: Asked
  /** After how many transactions the account can have been so. */
  readonly possible: ReadonlyArray<number>
  readonly what: string
}

const observationsOf = (history: History, life: Life, known: Known): ReadonlyArray<Observation> =>
  history.flatMap((line): ReadonlyArray<Observation> => {
    if (line.kind === "balance" && line.address === life.address) {
      const isSo = ({ balance, nonce }: State) => balance === line.balance && nonce === line.nonce
      const possible = life.states.flatMap((state, i) => (isSo(state) ? [i] : []))
      return [{ asked: line, possible, what: `balance ${line.balance}, nonce ${line.nonce}` }]
    }
    if (line.kind === "statement" && line.address === life.address)
      return [{ asked: line, possible: [line.entries.length], what: `statement of ${line.entries.length}` }]
    if (line.kind !== "lookup" || line.found.status !== "finalized" || !known.has(line.hash)) return []
    const at = life.hashes.indexOf(line.hash)
    // A lookup says that the account is at least so far.
    return at < 0 ? [] : [{ asked: line, possible: life.states.map((_, i) => i).slice(at + 1), what: "lookup" }]
  })

const neverGoesBack = (history: History, life: Life, known: Known): ReadonlyArray<Violation> => {
  const isBound = binding(history)
  const isSettled = of(history, "settled").length > 0
  const began = new Map<string, number>()
  for (const { transaction, began: at } of of(history, "submit"))
    began.set(transaction.hash, Math.min(at, began.get(transaction.hash) ?? at))
  const seen: Array<{ readonly asked: Asked; readonly index: number }> = []
  const inOrder = [...observationsOf(history, life, known)].sort((a, b) => a.asked.began - b.asked.began)
  return inOrder.flatMap(({ asked, possible, what }) => {
    const where = `${what} of ${short(life.address)} at ${asked.node} at ${asked.began}`
    // Without an end the statements may not reach as far as the balances do.
    if (possible.length === 0) return isSettled ? [{ rule: "balance", what: `${where}: it was never so` }] : []
    const least = seen.reduce((most, one) => (one.index > most && isBound(one.asked, asked) ? one.index : most), 0)
    const index = possible.find((each) => each >= least)
    seen.push({ asked, index: index ?? least })
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
  const submits = of(history, "submit").filter(({ transaction: { from } }) => from === address)
  return of(history, "balance")
    .filter((one) => one.address === address)
    .flatMap(({ nonce, nextNonce, node, began, ended }) => {
      const highest = submits.reduce(
        (most, { began: at, transaction }) => (at <= ended ? Math.max(most, transaction.nonce + 1) : most),
        0,
      )
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
        return concerns && !life.hashes.includes(hash)
          ? [{ rule: "statement", what: `${short(hash)} is final and in no statement of ${short(life.address)}` }]
          : []
      })

export const judge = (history: History): ReadonlyArray<Violation> => {
  const known: Known = new Map(of(history, "submit").map(({ transaction }) => [transaction.hash, transaction]))
  const final = finals(history)
  return Object.entries(of(history, "genesis")[0]?.accounts ?? {}).flatMap(([address, balance]) => {
    const longest = of(history, "statement")
      .filter((one) => one.address === address)
      .map(oldestFirst)
      .reduce((most, one) => (one.length > most.length ? one : most), [])
    const life = lifeOf(address, balance, longest, known, final)
    const repeated = longest.filter((hash, i) => longest.indexOf(hash) !== i)
    return [
      ...repeated.map((hash) => ({ rule: "twice", what: `${short(hash)} twice in a statement of ${short(address)}` })),
      ...statementsOf(history, address, life, known, final),
      ...neverGoesBack(history, life, known),
      ...nonces(history, address),
      ...everythingListed(history, life, known, final),
    ]
  })
}
