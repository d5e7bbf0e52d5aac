/** One supply after each round, one checkpoint per round, and no answer older than requested. */
import { type Asked, type History, of, type Violation } from "../History.js"
import { Told } from "../Told.js"

const oneOfEachRound = (
  rule: string,
  told: ReadonlyArray<{ readonly round: number; readonly node: string; readonly value: number | string }>,
): ReadonlyArray<Violation> => {
  const first = new Map<number, (typeof told)[number]>()
  return told.flatMap((one) => {
    const other = first.get(one.round) ?? one
    first.set(one.round, other)
    return other.value === one.value
      ? []
      : [{ rule, what: `round ${one.round}: ${other.value} at ${other.node}, ${one.value} at ${one.node}` }]
  })
}

const roundsGoUp = (history: History): ReadonlyArray<Violation> => {
  const told = new Told(history)
  const inOrder = [...of(history, "status")].sort((a, b) => a.began - b.began)
  return inOrder.flatMap((one) => {
    const least = told.least(one)
    told.tell(one, one.round)
    return least <= one.round
      ? []
      : [{ rule: "stale", what: `round ${least} was told before, and ${one.node} was at ${one.round} at ${one.began}` }]
  })
}

const isAsked = (line: History[number]): line is Asked => "floor" in line

export const judge = (history: History): ReadonlyArray<Violation> => [
  ...oneOfEachRound(
    "supply",
    of(history, "status").map(({ round, node, supply }) => ({ round, node, value: supply })),
  ),
  ...oneOfEachRound(
    "checkpoint",
    of(history, "checkpoint").map(({ round, node, hash }) => ({ round, node, value: hash })),
  ),
  ...roundsGoUp(history),
  ...history
    .filter(isAsked)
    .flatMap(({ node, began, floor, commit }) =>
      floor !== null && commit !== null && commit < floor
        ? [{ rule: "stale", what: `${node} at ${began}: of commit ${commit}, asked for ${floor}` }]
        : [],
    ),
]
