/** Iterations that end at once when their reader leaves, even while they wait for the next value. */

/**
 * The values of a generator, which must wait only for things that its signal aborts. A bare generator would notice that
 * its reader left only at its next value.
 */
export const iterable = <A>(
  generate: (signal: AbortSignal) => AsyncGenerator<A, void>,
  until?: AbortSignal,
): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => {
    const leaving = new AbortController()
    const values = generate(until === undefined ? leaving.signal : AbortSignal.any([leaving.signal, until]))
    return {
      next: async () => {
        try {
          return await values.next()
        } catch (error) {
          // The reader is gone, so nobody needs the error of the wait.
          if (leaving.signal.aborted) return { done: true, value: undefined }
          throw until?.aborted ? until.reason : error
        }
      },
      return: async () => {
        leaving.abort()
        // The abort ends the generator, with whatever error its wait had.
        await values.return().catch(() => {})
        return { done: true, value: undefined }
      },
    }
  },
})
