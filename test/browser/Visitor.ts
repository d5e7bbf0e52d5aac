/** A browser for the tests of a file. A test's pages close with it, and it fails if one of them had any trouble. */
import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, expect } from "vitest"
import * as Browsers from "./Browser.js"

export type Options = Parameters<typeof Browsers.open>[1]

export interface Visitor {
  /** Opens a page at this address. */
  readonly visit: (url: string, options?: Options) => Promise<Page>
  /** Opens an empty page. */
  readonly open: (options?: Options) => Promise<Browsers.Watched>
  /** Opens an empty page whose troubles are part of the test. */
  readonly openTroubled: (options?: Options) => Promise<Browsers.Watched>
}

/** Hooks of a file run in reverse order, so a node that its tests stop must be declared before its visitor. */
export const forTests = (): Visitor => {
  let browser: Browser
  const opened: Array<{ readonly watched: Browsers.Watched; readonly isTroubled: boolean }> = []
  const opening = async (options: Options, isTroubled: boolean): Promise<Browsers.Watched> => {
    const watched = await Browsers.open(browser, options)
    opened.push({ watched, isTroubled })
    return watched
  }
  beforeAll(async () => {
    browser = await Browsers.launch()
  })
  afterAll(() => browser?.close())
  afterEach(async () => {
    const pages = opened.splice(0)
    const troubles = pages.flatMap(({ watched, isTroubled }) => (isTroubled ? [] : watched.troubles))
    for (const { watched } of pages) await watched.page.context().close()
    expect(troubles).toEqual([])
  })
  return {
    visit: async (url, options) => {
      const { page } = await opening(options, false)
      await page.goto(url)
      return page
    },
    open: (options) => opening(options, false),
    openTroubled: (options) => opening(options, true),
  }
}
