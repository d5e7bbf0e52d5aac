/** Style sheet colours, resolved for the theme and for a canvas. */
import { Record } from "effect"

/** `var(--x)` can contain a function of the theme; the browser resolves it in an element's colour. */
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
