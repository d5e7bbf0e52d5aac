import { expect, it } from "vitest"
import { Attendance, type Backing, type Rounds } from "../../../src/node/history/Attendance.js"
import * as HistoryFile from "../../../src/node/history/HistoryFile.js"
import type { Address } from "../../../src/protocol/identity/Address.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"
import { addressOf } from "../CountersOf.js"

const [ann, ben] = [addressOf("ann"), addressOf("ben")]
const MIDNIGHT = 1_767_225_600_000
const MINUTE = 60_000

const members = (counts: ReadonlyArray<readonly [Address, Rounds]>) => new Map(counts)

const nobody = (): Backing => ({ delegators: 0, delegated: Sats.ZERO })

const begun = () => new Attendance(HistoryFile.nothing.attendance)

it("counts each member's rounds since the previous reading, and adds them up over a range", () => {
  const attendance = begun()
  attendance.add(members([[ann, { made: 5, missed: 1 }]]), nobody, MIDNIGHT)
  const two: ReadonlyArray<readonly [Address, Rounds]> = [
    [ann, { made: 9, missed: 1 }],
    [ben, { made: 0, missed: 4 }],
  ]
  attendance.add(members(two), nobody, MIDNIGHT + MINUTE)
  expect(attendance.of(ann, "hour")).toEqual([
    { at: MIDNIGHT, made: 5, missed: 1, backing: nobody() },
    { at: MIDNIGHT + MINUTE, made: 4, missed: 0, backing: nobody() },
  ])
  expect(attendance.of(ann, "day")).toEqual([{ at: MIDNIGHT, made: 9, missed: 1, backing: nobody() }])
  expect(attendance.of(ben, "year")).toEqual([{ at: MIDNIGHT, made: 0, missed: 4, backing: nobody() }])
  expect(attendance.totals("hour")).toEqual(members(two))
})

it("keeps a member's delegators at the end of each point, and reads them only where a round was counted", () => {
  const attendance = begun()
  const asked: Array<Address> = []
  const backing = (delegators: number, coins: number): Backing => ({
    ...{ delegators, delegated: Sats.make(coins * Sats.SATS_PER_COIN) },
  })
  const add = (made: number, now: Backing, at: number): void => {
    const reads = (member: Address): Backing => {
      asked.push(member)
      return now
    }
    attendance.add(members([[ann, { made, missed: 0 }]]), reads, at)
  }
  add(1, backing(1, 10), MIDNIGHT)
  add(2, backing(3, 30), MIDNIGHT + 1)
  add(2, backing(9, 90), MIDNIGHT + 2)
  add(3, backing(2, 20), MIDNIGHT + MINUTE)
  const backings = (range: "hour" | "day") => attendance.of(ann, range).map((point) => point.backing)
  expect(backings("hour")).toEqual([backing(3, 30), backing(2, 20)])
  expect(backings("day")).toEqual([backing(2, 20)])
  expect(asked).toEqual([ann, ann, ann])
})

it("counts a returning member from 0, since its counters restarted", () => {
  const attendance = begun()
  attendance.add(members([[ann, { made: 50, missed: 7 }]]), nobody, MIDNIGHT)
  attendance.add(members([]), nobody, MIDNIGHT + MINUTE)
  attendance.add(members([[ann, { made: 3, missed: 0 }]]), nobody, MIDNIGHT + 2 * MINUTE)
  expect(attendance.totals("hour").get(ann)).toEqual({ made: 53, missed: 7 })
})

it("is unaffected by later changes to the counts it was given", () => {
  const attendance = begun()
  const rounds = { made: 1, missed: 0 }
  attendance.add(members([[ann, rounds]]), nobody, MIDNIGHT)
  rounds.made = 4
  attendance.add(members([[ann, rounds]]), nobody, MIDNIGHT)
  expect(attendance.totals("hour").get(ann)).toEqual({ made: 4, missed: 0 })
})

it("knows a bounded number of members in one step", () => {
  const attendance = begun()
  for (let i = 0; i < 400; i++) {
    attendance.add(members([[i.toString(16).padStart(40, "0") as Address, { made: 1, missed: 0 }]]), nobody, MIDNIGHT)
  }
  expect(attendance.totals("year").size).toBe(250)
})

it("reports when it began to count, to the minute", () => {
  const attendance = begun()
  expect(attendance.since("day")).toBe(undefined)
  const start = MIDNIGHT + 17 * MINUTE
  attendance.add(members([[ann, { made: 1, missed: 0 }]]), nobody, start)
  expect(attendance.since("hour")).toBe(start)
  expect(attendance.since("day")).toBe(start)
  expect(attendance.since("year")).toBe(start)
  for (let minute = 1; minute <= 90; minute++) {
    attendance.add(members([[ann, { made: 1 + minute, missed: 0 }]]), nobody, start + minute * MINUTE)
  }
  expect(attendance.since("hour")).toBe(start + 31 * MINUTE)
  // The first minutes are no longer known individually: the day began with their half hour.
  expect(attendance.since("day")).toBe(MIDNIGHT)
})
