/** The colours of the style sheet, computed for this theme, as the canvas needs them. */
export interface Palette {
  readonly paper: string
  readonly ink: string
  readonly quiet: string
  readonly line: string
  readonly edge: string
  readonly pending: string
  /** Commits alternate between these, so that each is visible as a group. */
  readonly ordered: readonly [string, string]
  readonly leader: string
  readonly skipped: string
  readonly wash: string
}

const names = {
  paper: "--surface",
  ink: "--ink",
  quiet: "--quiet",
  line: "--line",
  edge: "--dag-edge",
  pending: "--dag-pending",
  even: "--dag-even",
  odd: "--dag-odd",
  leader: "--dag-leader",
  skipped: "--dag-skipped",
  wash: "--dag-wash",
} as const

/** `var(--x)` may contain a function of the theme; the browser computes it for an element's colour. */
export const read = (parent: Element): Palette => {
  const probe = document.createElement("span")
  parent.append(probe)
  const colour = (name: keyof typeof names): string => {
    probe.style.color = `var(${names[name]})`
    return getComputedStyle(probe).color
  }
  const palette: Palette = {
    paper: colour("paper"),
    ink: colour("ink"),
    quiet: colour("quiet"),
    line: colour("line"),
    edge: colour("edge"),
    pending: colour("pending"),
    ordered: [colour("even"), colour("odd")],
    leader: colour("leader"),
    skipped: colour("skipped"),
    wash: colour("wash"),
  }
  probe.remove()
  return palette
}
