/** Reads a whole table page by page. */
import { Effect } from "effect"
import * as EventLoop from "../../turns/EventLoop.js"

/** Passes page after page to `visit`, with a turn for others in between. `pageAfter` reads the rows after this one. */
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
