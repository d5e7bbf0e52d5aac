/** What became of a validator over time, as far as the node tells: by epochs, by entries of its statement. Pure. */
import type { Course } from "../charts/Course.js"
import type { Answer } from "../live/Node.js"

type Entry = Answer<"transactions", "history">["transactions"][number]
type Posting = Answer<"transactions", "statement">["entries"][number]

/** When an epoch began, and the weights of its committee. */
export interface Opening {
  readonly timestamp: number | null
  readonly weights: ReadonlyMap<string, number>
}

const SECOND = 1_000

/** Its stake at the beginning of each epoch, none where it had no seat: as a quorum signed it. */
export const stakes = (validator: string, openings: ReadonlyArray<Opening>): Course => {
  const dated = openings.flatMap(({ timestamp, weights }) => (timestamp === null ? [] : [{ timestamp, weights }]))
  const rising = dated.toSorted((a, b) => a.timestamp - b.timestamp)
  return {
    at: rising.map(({ timestamp }) => timestamp / SECOND),
    values: [rising.map(({ weights }) => weights.get(validator) ?? null)],
  }
}

/** Its commission from each moment at which it was set until now. */
export const commissions = (newestFirst: ReadonlyArray<Entry>, now: number, percent: number): Course => {
  const set = newestFirst.flatMap(({ transaction, applied, timestamp }) =>
    transaction.type === "SetCommissionTx" && applied === true && timestamp !== null
      ? [[timestamp, transaction.commission_percent] as const]
      : [],
  )
  const points = [...set.toReversed(), [now, percent] as const]
  return { at: points.map(([moment]) => moment / SECOND), values: [points.map(([, value]) => value)] }
}

const DAY_MS = 86_400_000

/** What it earned with its vertices on each day of UTC, rewards and fees apart. An entry counts on the day on which it ends. */
export const earnings = (entries: ReadonlyArray<Posting>): Course => {
  const days = new Map<number, { reward: number; fees: number }>()
  for (const { kind, amount, timestamp } of entries) {
    if (kind !== "reward" && kind !== "fees") continue
    const day = Math.floor(timestamp / DAY_MS)
    const sum = days.get(day) ?? { reward: 0, fees: 0 }
    days.set(day, { ...sum, [kind]: sum[kind] + amount })
  }
  const rising = [...days].toSorted(([a], [b]) => a - b)
  return {
    at: rising.map(([day]) => (day * DAY_MS) / SECOND),
    values: [rising.map(([, { reward }]) => reward), rising.map(([, { fees }]) => fees)],
  }
}
