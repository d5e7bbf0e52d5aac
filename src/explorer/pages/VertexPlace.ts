/** What the surrounding rounds tell about a vertex: the leader, its commit and its children. Pure. */
import type { Answer } from "../live/Node.js"

type Columns = Answer<"dag", "columns">
type Verdict = NonNullable<Columns["columns"][number]["leader"]>["verdict"]

export interface Place {
  /** Null while no commit has ordered it. */
  readonly commit: number | null
  /** Its epoch has closed without ordering it. */
  readonly isDropped: boolean
  /** Null if it does not lead its round. */
  readonly leads: Verdict | null
  readonly children: ReadonlyArray<string>
}

/** Undefined if no column contains the vertex. */
export const of = (hash: string, { columns }: Columns): Place | undefined => {
  const column = columns.find(({ vertices }) => vertices.some((vertex) => vertex.hash === hash))
  const self = column?.vertices.find((vertex) => vertex.hash === hash)
  if (column === undefined || self === undefined) return undefined
  const { round, leader, epoch } = column
  const names = (at: number, vertex: (typeof column.vertices)[number]): boolean =>
    (at === round + 1 && vertex.parents.includes(self.validator)) ||
    vertex.older_parents.some((parent) => parent.round === round && parent.validator === self.validator)
  return {
    commit: self.commit_index,
    isDropped: self.commit_index === null && columns.some((later) => later.epoch > epoch),
    leads: leader?.validator === self.validator ? leader.verdict : null,
    children: columns.flatMap((later) =>
      later.vertices.filter((vertex) => names(later.round, vertex)).map((one) => one.hash),
    ),
  }
}
