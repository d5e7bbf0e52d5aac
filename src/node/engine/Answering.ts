/** Answers peers' questions: about stored data from the disk, others from the replica, which this does not change. */
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

/** `gathered` returns when nothing is held back from the files any more. */
export const make = (
  replica: Pick<Replica, "answer" | "isWithheld">,
  bulkhead: Bulkhead,
  gathered: Effect.Effect<void>,
) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const network = yield* Network
    const supervisor = yield* Supervisor
    const fork = Runtime.runFork(yield* Effect.runtime<never>())

    const answered = (question: Question | DiskQuestion) =>
      question._tag === "AskHighest" || question._tag === "AskState"
        ? Effect.sync(() => replica.answer(question))
        : Effect.zipRight(
            gathered,
            Archive.answer(storage, question, (hash) => replica.isWithheld(hash)),
          )

    const answerTo = (to: PeerId, question: Question | DiskQuestion): Effect.Effect<Price> =>
      Effect.suspend(() => {
        const began = performance.now()
        return Effect.flatMap(answered(question), (answer) =>
          Effect.map(network.send(to, answer), () => ({
            bytes: Archive.bytesOf(answer),
            milliseconds: performance.now() - began,
          })),
        )
      }).pipe(
        Effect.catchAllCause((cause) =>
          // A disk failure ends the node; anything else is a bug that this question has found.
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
