/** Changes of the model, each of which breaks an invariant. They show that the invariants can fail. */
import type { Change } from "./Quint.js"

export interface Broken extends Change {
  readonly breaks: ReadonlyArray<string>
  /** Quint's name for a trace that breaks it. Other traces are tried too, since the model may change. */
  readonly seed?: string
  /** Tried with epochs of the simulator, a few of which show it. */
  readonly isSimulated?: true
}

const COMMITS = "commits.qnt"
const NETWORK = "network.qnt"
const ORDER = ["oneOrder", "collectionChangesNothing"]

export const network: ReadonlyArray<Broken> = [
  {
    name: "one certificate commits",
    file: COMMITS,
    from: "isQuorum(authorsOf(certifying.filter(c => certifies(dag, c, v))))",
    to: "certifying.exists(c => certifies(dag, c, v))",
    seed: "0xfc74",
    breaks: ORDER,
  },
  {
    name: "two blames skip",
    file: COMMITS,
    from: "else if (isQuorum(authorsOf(voting.filter(v => blames(dag, v, leader))))) Skip",
    to: "else if (authorsOf(voting.filter(v => blames(dag, v, leader))).size() > 1) Skip",
    seed: "0x58505",
    breaks: ORDER,
  },
  {
    name: "the anchor is two rounds above",
    file: COMMITS,
    from: "range(round + 3, highest + 1)",
    to: "range(round + 2, highest + 1)",
    breaks: ORDER,
    seed: "0xa6f8",
    isSimulated: true,
  },
  {
    name: "undecided slots hold nothing back",
    file: COMMITS,
    from: "| Undecided => p\n        | Skip",
    to: "| Undecided => { ...p, next: round + 1 }\n        | Skip",
    breaks: ORDER,
  },
  {
    name: "collects one round too many",
    file: COMMITS,
    from: "pure val collected = lowestOrdered(progress, rules)",
    to: "pure val collected = lowestOrdered(progress, rules) + if (progress.commits.length() > 0) 1 else 0",
    breaks: ORDER,
    seed: "0xb20",
    isSimulated: true,
  },
  {
    name: "collects by the highest round held",
    file: COMMITS,
    from: "pure val collected = lowestOrdered(progress, rules)",
    to: "pure val collected = maxOf(progress.held.map(v => roundOf(v) - rules.depth - 3), progress.collected)",
    breaks: ORDER,
  },
  {
    name: "orders what is held above the highest round less the depth",
    file: COMMITS,
    from: "    maxOf(Set(lastLeaderRound(progress, rules) - rules.depth), rules.first - 1)",
    to: "    maxOf(progress.held.map(v => roundOf(v) - rules.depth - 3), rules.first - 1)",
    breaks: ORDER,
  },
  {
    name: "an epoch ends by the highest round held",
    file: COMMITS,
    from: "isClosed: roundOf(leader) >= rules.first",
    to: "isClosed: maxOf(progress.held.map(roundOf), 0) - 3 >= rules.first",
    seed: "0xb29",
    breaks: ["oneHandover", ...ORDER],
  },
  {
    name: "who joins believes a single signature",
    file: NETWORK,
    from: "isSigned(offer.opening, offer.epoch, offer.close)",
    to: "true",
    seed: "0x1",
    breaks: ["oneHandover"],
  },
]

const SIGNING = "signing.qnt"

export const signing: ReadonlyArray<Broken> = [
  {
    name: "the bound is the highest round told",
    file: SIGNING,
    from: "bound: named + 1 }",
    to: "bound: named }",
    breaks: ["signedOnce"],
    seed: "0x2e8c",
  },
  {
    name: "a bound does not count",
    file: SIGNING,
    from: "round > highestOf(g, d), round > g.bound,",
    to: "round > highestOf(g, d),",
    breaks: ["signedOnce"],
    seed: "0x3427",
  },
]
