/** Iterations that end at once when their reader leaves, even while they wait for the next value. */

/**
 * What a generator yields, which must wait for nothing but what its signal ends. A generator alone would hear of its reader's
 * leaving only with its next value.
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
          // The reader is gone: nobody is interested in how the wait ended.
          if (leaving.signal.aborted) return { done: true, value: undefined }
          throw until?.aborted ? until.reason : error
        }
      },
      return: async () => {
        leaving.abort()
        // It ends with whatever the signal made of its wait.
        await values.return().catch(() => {})
        return { done: true, value: undefined }
      },
    }
  },
})
