/** A real browser for one test file, with pages that record every error. */
import { existsSync } from "node:fs"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

export const launch = (): Promise<Browser> => {
  const executablePath = process.env["CHROMIUM"] ?? places.find((place) => existsSync(place))
  if (executablePath === undefined) {
    throw new Error(`no browser at ${places.join(", ")}; install Debian's chromium, or name one with CHROMIUM=PATH`)
  }
  // The sandbox needs a user other than root, which CI lacks. Only our own pages are opened.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] })
}

export interface Watched {
  readonly page: Page
  /** Console errors, script errors, and violations of the page's policy. */
  readonly troubles: ReadonlyArray<string>
  /** Everything that left the browser: addresses, headers and bodies. */
  readonly sent: ReadonlyArray<string>
}

/**
 * The browser logs a line like this for each 404 response, and for the 503 of a node whose disk is late, after which
 * pages ask again. Neither is an error of the page.
 */
const isAnswer = (text: string): boolean =>
  /^Failed to load resource: the server responded with a status of (?:404|503)/.test(text)

export const open = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(240_000)
  const troubles: Array<string> = []
  const sent: Array<string> = []
  page.on("pageerror", (error) => troubles.push(error.message))
  page.on("console", (message) => {
    if (message.type() === "error" && !isAnswer(message.text()))
      troubles.push(`${message.text()} ${message.location().url}`)
  })
  page.on("request", (request) => {
    sent.push(`${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ""}`)
  })
  return { page, troubles, sent }
}

/** Whether the page scrolls sideways. On a phone `innerWidth` grows with wide content, so it is not compared. */
export const isTooWide = async (page: Page): Promise<boolean> =>
  (await page.evaluate(() => document.documentElement.scrollWidth)) > (page.viewportSize()?.width ?? 0)

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const
