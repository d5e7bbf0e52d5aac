/** The style sheet's colours, resolved for this theme and for the canvas. */
import * as Colours from "../show/Colours.js"

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

export const read = (parent: Element): Palette => Colours.read(parent, variables)
