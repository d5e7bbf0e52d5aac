/** The DAG view's frame rate while a wheel turns as fast as the browser accepts it. */
import type { Page } from "playwright-core"

const SECONDS = 2

/** Frames a second while the canvas moves. */
export const whileMoving = (page: Page): Promise<number> =>
  page.evaluate(async (seconds) => {
    const canvas = document.querySelector<HTMLCanvasElement>(".dag canvas")
    const end = performance.now() + seconds * 1_000
    let count = 0
    while (performance.now() < end) {
      await new Promise(requestAnimationFrame)
      canvas?.dispatchEvent(new WheelEvent("wheel", { deltaX: count % 2 === 0 ? -9 : 9, cancelable: true }))
      count += 1
    }
    return count / seconds
  }, SECONDS)

/** Zooms out until at least two hundred rounds are visible. Rounds to the left are fetched as they come into view. */
export const zoomOut = async (page: Page): Promise<void> => {
  const button = page.getByRole("button", { name: "Zoom out" })
  for (let i = 0; i < 6; i++) await button.click()
  await page.locator('[role=application][aria-label*="100 validators, "]').waitFor()
  await page.waitForFunction(
    () => /, [2-9]\d\d rounds/.test(document.querySelector("[role=application]")?.getAttribute("aria-label") ?? ""),
    undefined,
    { timeout: 240_000 },
  )
}
