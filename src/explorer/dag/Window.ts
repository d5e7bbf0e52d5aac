/** Which part of the DAG a canvas shows and how large. Pure: rounds and lanes to pixels and back. */

export interface Window {
  readonly width: number
  readonly height: number
  readonly columnWidth: number
  readonly laneHeight: number
  /** The round, with a fraction, that stands at the right edge. */
  readonly right: number
  /** Pixels above the first lane; below zero when lanes are scrolled up. */
  readonly top: number
}

/** Left of the first column stand the names of the lanes, below the last lane the rounds. */
export const GUTTER = 92
export const AXIS = 22
const MARGIN_RIGHT = 26

export const NARROWEST = 5
export const WIDEST = 72
const LOWEST_LANE = 5
const HIGHEST_LANE = 96

export const x = (window: Window, round: number): number =>
  window.width - MARGIN_RIGHT - (window.right - round) * window.columnWidth

export const y = (window: Window, lane: number): number => window.top + (lane + 0.5) * window.laneHeight

export const roundAt = (window: Window, px: number): number =>
  window.right - (window.width - MARGIN_RIGHT - px) / window.columnWidth

/** How high a lane is, so that all are seen if they can be. */
export const laneHeightFor = (height: number, lanes: number): number =>
  Math.min(HIGHEST_LANE, Math.max(LOWEST_LANE, (height - AXIS) / Math.max(1, lanes)))

/** The lanes in the middle when they do not fill the height. */
export const topFor = (height: number, lanes: number, laneHeight: number): number =>
  Math.max(0, (height - AXIS - lanes * laneHeight) / 2)

export const firstRound = (window: Window): number => Math.floor(roundAt(window, GUTTER - window.columnWidth))
export const lastRound = (window: Window): number => Math.ceil(roundAt(window, window.width + window.columnWidth))

/** Larger or smaller around a point that stays where it is. */
export const zoomed = (window: Window, factor: number, around: number): Window => {
  const columnWidth = Math.min(WIDEST, Math.max(NARROWEST, window.columnWidth * factor))
  const round = roundAt(window, around)
  const right = round + (window.width - MARGIN_RIGHT - around) / columnWidth
  return { ...window, columnWidth, right }
}

export const radius = ({ columnWidth, laneHeight }: Window): number =>
  Math.max(1.4, Math.min(6.5, laneHeight * 0.32, columnWidth * 0.3))
