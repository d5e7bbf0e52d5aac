/** One supply after each round, one checkpoint of each round, and no answer older than was asked for. */
import { Array as List } from "effect"
import { type Asked, binding, type History, of, type Violation } from "../History.js"

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
  const isBound = binding(history)
  const byNode = List.groupBy(of(history, "status"), ({ node }) => node)
  return Object.values(byNode).flatMap((told) => {
    const inOrder = [...told].sort((a, b) => a.began - b.began)
    return inOrder.flatMap((one, i) => {
      const before = inOrder.slice(0, i).findLast((earlier) => isBound(earlier, one))
      return before === undefined || before.round <= one.round
        ? []
        : [{ rule: "stale", what: `${one.node} was at round ${before.round}, and at ${one.round} at ${one.began}` }]
    })
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
