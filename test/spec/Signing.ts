/** Replays traces of docs/spec/signing.qnt with the production `SigningGuard`, which must allow the same rounds. */
import { Schema } from "effect"
import type { HighestKnown } from "../../src/consensus/KeyMemory.js"
import { SILENT_INTERVALS, SigningGuard } from "../../src/consensus/SigningGuard.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Header } from "../../src/protocol/vertex/Header.js"
import { equalWeights, openingOf, recordOf } from "../consensus/TestCommittee.js"
import { VertexBuilder } from "../consensus/VertexBuilder.js"
import { Int, mapOf, setOf } from "./Trace.js"

export const State = Schema.Struct({
  disk: setOf(Int),
  isEmpty: Schema.Boolean,
  guard: Schema.Struct({
    isAnswered: Schema.Boolean,
    isKnown: Schema.Boolean,
    isSilent: Schema.Boolean,
    bound: Int,
    met: setOf(Int),
    told: mapOf(Int),
  }),
  event: Schema.Struct({ name: Schema.String, member: Int, round: Int, header: Int }),
})

type State = typeof State.Type

const INTERVAL_MS = 200
const KEY = 0
const LAST_ROUND = 15
/** In the first epoch a lost disk may sign sooner, which the model leaves out. */
const epoch = Natural.epoch(2)
const builder = new VertexBuilder(openingOf(recordOf(equalWeights(4), { epoch })))
const { committee, opening } = builder

const headerOf = (seat: number, round: number): Header => builder.make(seat, round, []).header

const known = (seat: number, round: number): HighestKnown => ({
  epoch,
  header: round === 0 ? null : headerOf(seat, round),
})

const started = ({ disk, isEmpty }: State): SigningGuard => {
  const stored = disk.map((round) => headerOf(KEY, round))
  const inherited = { heldBack: [], hasMemory: !isEmpty, word: null }
  const guard = new SigningGuard(committee.member(KEY).address, INTERVAL_MS, epoch, stored, inherited)
  guard.open(epoch, opening.base)
  return guard
}

/** Longer than a silence, with checks as frequent as the node's. */
const wait = (guard: SigningGuard): void => {
  for (let i = 0; i <= SILENT_INTERVALS; i++) guard.tick(Natural.timestamp(i * INTERVAL_MS), () => true)
}

const next = (guard: SigningGuard, state: State): SigningGuard => {
  const { name, member, round, header } = state.event
  const { address } = committee.member(member)
  if (name === "starts" || name === "restarts" || name === "loses") return started(state)
  if (name === "signs") guard.signed(headerOf(KEY, round))
  if (name === "waits") wait(guard)
  if (name === "tells") guard.testify(address, known(member, round), committee)
  if (name === "answers") {
    const answer = known(KEY, header)
    if (answer.header !== null) guard.meet(answer.header)
    guard.answer(address, answer, committee)
  }
  return guard
}

const maySign = ({ disk, guard }: State, round: number): boolean =>
  guard.isAnswered && !guard.isSilent && guard.isKnown && round > Math.max(0, guard.bound, ...disk, ...guard.met)

/** What differs first between the model and the program; null if nothing does. */
export const replay = (trace: ReadonlyArray<State>): string | null => {
  const [initial] = trace
  if (initial === undefined) throw new Error("an empty trace")
  let guard = started(initial)
  for (const [i, state] of trace.entries()) {
    guard = next(guard, state)
    for (let round = 1; round <= LAST_ROUND; round++) {
      const [expected, found] = [maySign(state, round), guard.maySign(epoch, Natural.round(round))]
      if (expected === found) continue
      return `step ${i}, ${JSON.stringify(state)}: may sign ${round}: ${found}, not ${expected}`
    }
  }
  return null
}
