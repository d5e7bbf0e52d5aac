/** The colours of the style sheet, computed for this theme, as the canvas needs them. */
import { Record } from "effect"

const variables = {
  paper: "--surface",
  ink: "--ink",
  quiet: "--quiet",
  line: "--line",
  edge: "--dag-edge",
  pending: "--dag-pending",
  /** Commits alternate between these, so that each is visible as a group. */
  even: "--dag-even",
  odd: "--dag-odd",
  leader: "--dag-leader",
  skipped: "--dag-skipped",
  wash: "--dag-wash",
} as const

export type Palette = Readonly<Record<keyof typeof variables, string>>

/** `var(--x)` may contain a function of the theme; the browser computes it for an element's colour. */
export const read = (parent: Element): Palette => {
  const probe = document.createElement("span")
  parent.append(probe)
  const palette = Record.map(variables, (variable) => {
    probe.style.color = `var(${variable})`
    return getComputedStyle(probe).color
  })
  probe.remove()
  return palette
}
