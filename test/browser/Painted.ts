/** Finds the pixels of a canvas that have a colour of the style sheet. */
import type { Locator } from "playwright-core"

/** Lines thinner than two pixels are painted slightly lighter. */
const NEAR = 40

/** For each column of pixels, from the left: the rows with this colour, from the top. */
export const rowsOf = (canvas: Locator, variable: `--${string}`): Promise<ReadonlyArray<ReadonlyArray<number>>> =>
  canvas.evaluate(
    (element, { name, near }) => {
      if (!(element instanceof HTMLCanvasElement)) throw new Error("no canvas")
      const probe = document.createElement("span")
      probe.style.color = `var(${name})`
      element.parentElement?.append(probe)
      const [red, green, blue] = getComputedStyle(probe).color.match(/\d+/g)?.map(Number) ?? []
      probe.remove()
      const { width, height } = element
      const { data } = element.getContext("2d")?.getImageData(0, 0, width, height) ?? { data: [] }
      return Array.from({ length: width }, (_, x) =>
        Array.from({ length: height }, (_, y) => y).filter((y) => {
          const at = 4 * (y * width + x)
          const isNear = (channel: number, wanted = 0) => Math.abs((data[at + channel] ?? 0) - wanted) < near
          return isNear(0, red) && isNear(1, green) && isNear(2, blue)
        }),
      )
    },
    { name: variable, near: NEAR },
  )
