/** Reads a whole table in pages. */
import { Effect } from "effect"
import * as EventLoop from "../../turns/EventLoop.js"

/** Passes each page to `visit` and yields in between. `pageAfter` reads the rows after a row. */
export const visited = <A, E>(
  rows: number,
  pageAfter: (last: A | undefined) => Effect.Effect<ReadonlyArray<A>, E>,
  visit: (page: ReadonlyArray<A>) => void,
): Effect.Effect<void, E> =>
  Effect.gen(function* () {
    let last: A | undefined
    for (;;) {
      const page: ReadonlyArray<A> = yield* pageAfter(last)
      visit(page)
      if (page.length < rows) return
      last = page.at(-1)
      yield* EventLoop.turn
    }
  })
