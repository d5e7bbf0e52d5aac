/** No validator signs two vertices for one slot, on however many nodes. */
import { Array as List } from "effect"
import { type History, of, short, type Violation } from "../History.js"

export const judge = (history: History): ReadonlyArray<Violation> => {
  const bySlot = List.groupBy(of(history, "signed"), ({ validator, epoch, round }) => `${validator}/${epoch}/${round}`)
  return Object.entries(bySlot).flatMap(([slot, [first, ...others]]) => {
    const other = others.find(({ vertex }) => vertex !== first.vertex)
    if (other === undefined) return []
    const what = `${slot} has ${short(first.vertex)} at ${first.node} and ${short(other.vertex)} at ${other.node}`
    return [{ rule: "equivocation", what }]
  })
}
