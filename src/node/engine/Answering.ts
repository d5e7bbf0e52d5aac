/** Answers peers' questions: from the disk if about stored data, otherwise from the replica, which stays unchanged. */
import { Cause, Effect, Option, Runtime } from "effect"
import { Network } from "../../network/Network.js"
import type { DiskQuestion, Question } from "../../replica/messages/Message.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Replica } from "../../replica/Replica.js"
import { Storage } from "../../storage/Storage.js"
import { Supervisor } from "../lifecycle/Supervisor.js"
import type { Bulkhead } from "../signatures/Bulkhead.js"
import { Answers, type Price } from "./Answers.js"
import * as Archive from "./Archive.js"

const isOfMemory = (question: Question | DiskQuestion): question is Question =>
  question._tag === "AskHighest" || question._tag === "AskState"

/** `gathered` returns when nothing is held back from the files any more. Peers are charged for the time an answer takes by `now`. */
export const make = (
  replica: Pick<Replica, "answer" | "isWithheld">,
  bulkhead: Pick<Bulkhead, "failed">,
  gathered: Effect.Effect<void>,
  now: () => number = () => performance.now(),
) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const network = yield* Network
    const supervisor = yield* Supervisor
    const fork = Runtime.runFork(yield* Effect.runtime<never>())

    const answered = (question: Question | DiskQuestion) =>
      isOfMemory(question)
        ? Effect.sync(() => replica.answer(question))
        : Archive.answer(storage, question, (hash) => replica.isWithheld(hash))

    const priced = (to: PeerId, question: Question | DiskQuestion) =>
      Effect.suspend(() => {
        const began = now()
        return Effect.flatMap(answered(question), (answer) =>
          Effect.map(network.send(to, answer), () => ({
            bytes: Archive.bytesOf(answer),
            milliseconds: now() - began,
          })),
        )
      })

    // The wait for the writer is not charged: it takes none of this thread's time, and all strangers share one budget.
    const answerTo = (to: PeerId, question: Question | DiskQuestion): Effect.Effect<Price> =>
      Effect.zipRight(isOfMemory(question) ? Effect.void : gathered, priced(to, question)).pipe(
        Effect.catchAllCause((cause) =>
          // A disk failure ends the node; anything else is a bug that this question has exposed.
          Option.match(Cause.failureOption(cause), {
            onSome: (error) => supervisor.end(error),
            onNone: () => Effect.sync(() => bulkhead.failed("answering", Cause.squash(cause))),
          }).pipe(Effect.as({ bytes: 0, milliseconds: 0 })),
        ),
      )

    return new Answers(({ peer }, question, done) => {
      fork(Effect.map(answerTo(peer as PeerId, question), done))
    })
  })
