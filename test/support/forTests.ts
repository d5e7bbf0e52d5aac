import { afterAll, beforeAll } from "vitest"

/** Something that the tests of a file or group share, made before the first of them and ended after the last one. */
export const forTests = <A extends AsyncDisposable>(make: () => Promise<A>): (() => A) => {
  let shared: A | undefined
  beforeAll(async () => {
    shared = await make()
  })
  afterAll(() => shared?.[Symbol.asyncDispose]())
  return () => {
    if (shared === undefined) throw new Error("it is made only when the first test begins")
    return shared
  }
}
