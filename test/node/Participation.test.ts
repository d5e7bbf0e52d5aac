import { expect, it } from "vitest"
import { Participation } from "../../src/node/engine/Participation.js"
import type * as Address from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { addressOf, recordOf } from "./CountersOf.js"

const NAMES = ["ann", "ben", "cleo"]

/** Each round with the names whose vertices a commit orders. */
const commit = (leaderRound: number, ordered: Readonly<Record<number, ReadonlyArray<string>>>) => ({
  leaderRound: Natural.round(leaderRound),
  headers: Object.entries(ordered).flatMap(([round, names]) =>
    names.map((name) => ({ round: Natural.round(Number(round)), author: addressOf(name) })),
  ),
})

const roundsOf = (participation: Participation) =>
  Object.fromEntries(NAMES.map((name) => [name, participation.members.get(addressOf(name))]))

it("counts a round for each member once its order is final, three rounds below the leader here", () => {
  const participation = new Participation(addressOf("cleo"), recordOf(NAMES), Natural.round(0))
  participation.committed(commit(3, { 1: ["ann", "ben"], 2: ["ann"], 3: ["ann"] }))
  expect(roundsOf(participation)["ann"]).toEqual({ made: 0, missed: 0 })
  // Ben's vertex of round 2 comes late, but in time.
  participation.committed(commit(4, { 2: ["ben"], 4: ["ann"] }))
  participation.committed(commit(5, { 5: ["ann"] }))
  expect(roundsOf(participation)).toEqual({
    ann: { made: 2, missed: 0 },
    ben: { made: 2, missed: 0 },
    cleo: { made: 0, missed: 2 },
  })
  expect(participation.ownMissed).toBe(2)
})

it("counts two vertices of one round as one", () => {
  const participation = new Participation(null, recordOf(NAMES), Natural.round(0))
  participation.committed(commit(4, { 1: ["ann", "ann"], 4: ["ben"] }))
  expect(roundsOf(participation)["ann"]).toEqual({ made: 1, missed: 0 })
})

it("counts nothing of the rounds before a start in the middle of an epoch", () => {
  const participation = new Participation(addressOf("ben"), recordOf(NAMES), Natural.round(7))
  participation.committed(commit(8, { 8: ["ann"] }))
  participation.committed(commit(10, { 8: ["ben"], 10: ["ann"] }))
  expect(participation.ownMissed).toBe(0)
  participation.committed(commit(11, { 11: ["ann"] }))
  expect(roundsOf(participation)["ben"]).toEqual({ made: 1, missed: 0 })
})

it("counts the slots between two commits as skipped, also at the beginning of an epoch", () => {
  const participation = new Participation(null, recordOf(NAMES), Natural.round(0))
  participation.committed(commit(1, { 1: ["ann"] }))
  participation.committed(commit(4, { 4: ["ann"] }))
  expect(participation.leadersSkipped).toBe(2)
  participation.epochStarted(recordOf(NAMES, { epoch: Natural.epoch(2), firstRound: Natural.round(5) }))
  participation.committed(commit(6, { 6: ["ann"] }))
  expect(participation.leadersSkipped).toBe(3)
})

it("continues for members that stay, and forgets those that leave an epoch later", () => {
  const participation = new Participation(addressOf("cleo"), recordOf(NAMES), Natural.round(0))
  participation.committed(commit(4, { 1: ["ann"], 4: ["ann"] }))
  participation.epochStarted(recordOf(["ann", "ben"], { firstRound: Natural.round(5) }))
  participation.committed(commit(8, { 5: ["ann"], 8: ["ann"] }))
  expect(roundsOf(participation)).toEqual({
    ann: { made: 2, missed: 2 },
    ben: { made: 0, missed: 4 },
    cleo: { made: 0, missed: 3 },
  })
  expect(participation.ownMissed).toBe(3)
  participation.epochStarted(recordOf(["ann", "ben"], { firstRound: Natural.round(9) }))
  expect(roundsOf(participation)).toEqual({
    ann: { made: 2, missed: 4 },
    ben: { made: 0, missed: 6 },
    cleo: undefined,
  })
})

it("counts the last rounds of an epoch at its close, except the last leader's", () => {
  const participation = new Participation(addressOf("cleo"), recordOf(NAMES), Natural.round(0))
  participation.committed(commit(6, { 4: ["ann", "ben"], 5: ["ann"], 6: ["ben"] }))
  participation.epochStarted(recordOf(NAMES, { firstRound: Natural.round(7) }))
  expect(roundsOf(participation)).toEqual({
    ann: { made: 2, missed: 3 },
    ben: { made: 1, missed: 4 },
    cleo: { made: 0, missed: 5 },
  })
  expect(participation.ownMissed).toBe(5)
})

it("counts nothing of the time before it joins a later epoch", () => {
  const participation = new Participation(null, recordOf(NAMES), Natural.round(0))
  participation.committed(commit(4, { 1: ["ann"], 4: ["ann"] }))
  participation.joined(recordOf(NAMES, { firstRound: Natural.round(100) }))
  participation.committed(commit(104, { 100: ["ann"], 101: ["ann"], 104: ["ann"] }))
  expect(roundsOf(participation)["ann"]).toEqual({ made: 3, missed: 0 })
})

it("counts a validator's rounds for its account when it changes its key", () => {
  const accountOf = (key: Address.Address) => (key === addressOf("ben's next key") ? addressOf("ben") : key)
  const own = addressOf("ben's next key")
  const participation = new Participation(own, recordOf(NAMES), Natural.round(0), accountOf)
  participation.committed(commit(2, { 1: ["ann", "ben"], 2: ["ann"] }))
  const next = { epoch: Natural.epoch(2), firstRound: Natural.round(3) }
  participation.epochStarted(recordOf(["ann", "ben's next key", "cleo"], next))
  participation.committed(commit(7, { 3: ["ann", "ben's next key"], 4: ["ann"], 7: ["ann"] }))
  expect(roundsOf(participation)["ben"]).toEqual({ made: 2, missed: 1 })
  expect(participation.members.has(own)).toBe(false)
  expect(participation.ownMissed).toBe(1)
})
