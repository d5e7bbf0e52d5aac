/** Colours of the style sheet, computed for this theme, as a canvas needs them. */
import { Record } from "effect"

/** `var(--x)` may contain a function of the theme; the browser computes it for an element's colour. */
export const read = <Name extends string>(
  parent: Element,
  variables: Readonly<Record<Name, `--${string}`>>,
): Readonly<Record<Name, string>> => {
  const probe = document.createElement("span")
  parent.append(probe)
  const colours = Record.map(variables, (variable) => {
    probe.style.color = `var(${variable})`
    return getComputedStyle(probe).color
  })
  probe.remove()
  return colours
}
