/** A validator's past, by epochs and by entries of its statement. Pure. */
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

/** Its stake at the start of each epoch, as a quorum signed it; null without a seat. */
export const stakes = (validator: string, openings: ReadonlyArray<Opening>): Course => {
  const dated = openings.flatMap(({ timestamp, weights }) => (timestamp === null ? [] : [{ timestamp, weights }]))
  const rising = dated.toSorted((a, b) => a.timestamp - b.timestamp)
  return {
    at: rising.map(({ timestamp }) => timestamp / SECOND),
    values: [rising.map(({ weights }) => weights.get(validator) ?? null)],
  }
}

/** Its commission from each change until now. */
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
export const DAY_SECONDS = DAY_MS / SECOND

/** Its earnings from vertices per UTC day, rewards and fees separately. An entry counts on the day on which it ends. */
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
