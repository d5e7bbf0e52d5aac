/** A real browser for the length of a test file, and pages that remember whatever went wrong on them. */
import { existsSync } from "node:fs"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

export const launch = (): Promise<Browser> => {
  const executablePath = process.env["CHROMIUM"] ?? places.find((place) => existsSync(place))
  if (executablePath === undefined) {
    throw new Error(`no browser at ${places.join(", ")}; install Debian's chromium, or name one with CHROMIUM=PATH`)
  }
  // The sandbox wants a user that is not root, and CI has none; what is opened here are our own pages.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] })
}

export interface Watched {
  readonly page: Page
  /** Errors of the console and of scripts, and what the page's policy refused. */
  readonly troubles: ReadonlyArray<string>
  /** Whatever left the browser: addresses, headers and bodies. */
  readonly sent: ReadonlyArray<string>
}

/** The browser itself writes such a line for every answer that is no 2xx; that one is no error of the page's. */
const isAnswer = (text: string): boolean =>
  /^Failed to load resource: the server responded with a status of 404/.test(text)

export const open = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(240_000)
  const troubles: Array<string> = []
  const sent: Array<string> = []
  page.on("pageerror", (error) => troubles.push(error.message))
  page.on("console", (message) => {
    if (message.type() === "error" && !isAnswer(message.text())) troubles.push(message.text())
  })
  page.on("request", (request) => {
    sent.push(`${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ""}`)
  })
  return { page, troubles, sent }
}

/** Whether it scrolls sideways. A phone's `innerWidth` grows with what is too wide, and says nothing. */
export const isTooWide = async (page: Page): Promise<boolean> =>
  (await page.evaluate(() => document.documentElement.scrollWidth)) > (page.viewportSize()?.width ?? 0)

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const
