/**
 * Answers many questions at once: those asked while an answer is in progress are answered together by the next one. It
 * begins after they were asked, so no answer is older than its question.
 */
import { Deferred, Effect, type Scope } from "effect"

interface Round<Question, Answer, E> {
  readonly questions: Array<Question>
  readonly answered: Deferred.Deferred<Answer, E>
}

/** `answer` gets the questions that arrived while it was busy, in order; all callers get the same result. */
export const make = <Question, Answer, E>(
  answer: (questions: ReadonlyArray<Question>) => Effect.Effect<Answer, E>,
): Effect.Effect<(question: Question) => Effect.Effect<Answer, E>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let next: Round<Question, Answer, E> | null = null
    let isBusy = false
    const work: Effect.Effect<void> = Effect.gen(function* () {
      for (let round = next; round !== null; round = next) {
        next = null
        yield* Deferred.done(round.answered, yield* Effect.exit(answer(round.questions)))
      }
      isBusy = false
    })
    return (question) =>
      Effect.gen(function* () {
        const round: Round<Question, Answer, E> = next ?? { questions: [], answered: yield* Deferred.make<Answer, E>() }
        next = round
        round.questions.push(question)
        if (!isBusy) {
          isBusy = true
          yield* Effect.forkIn(work, scope)
        }
        return yield* Deferred.await(round.answered)
      })
  })
