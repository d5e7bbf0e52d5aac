/** The visible part of the DAG and its scale: converts rounds and lanes to pixels and back. Pure. */

export interface Window {
  readonly width: number
  readonly height: number
  readonly columnWidth: number
  readonly laneHeight: number
  /** The round at the right edge, with a fraction. */
  readonly right: number
  /** Pixels above the first lane; negative when lanes are scrolled up. */
  readonly top: number
}

/** Lane names are left of the first column, round numbers below the last lane. */
export const GUTTER = 118
/** The length of an abbreviated address. */
export const NAME_CHARACTERS = 17
export const AXIS = 22
const MARGIN_RIGHT = 26

const NARROWEST = 5
const WIDEST = 72
const LOWEST_LANE = 5

export const x = (window: Window, round: number): number =>
  window.width - MARGIN_RIGHT - (window.right - round) * window.columnWidth

export const y = (window: Window, lane: number): number => window.top + (lane + 0.5) * window.laneHeight

export const roundAt = (window: Window, px: number): number =>
  window.right - (window.width - MARGIN_RIGHT - px) / window.columnWidth

/** The height of a lane: all lanes fill the picture and, if possible, are visible. */
export const laneHeightFor = (height: number, lanes: number): number =>
  Math.max(LOWEST_LANE, (height - AXIS) / Math.max(1, lanes))

/** Centres lanes that do not fill the height. */
export const topFor = (height: number, lanes: number, laneHeight: number): number =>
  Math.max(0, (height - AXIS - lanes * laneHeight) / 2)

export const firstRound = (window: Window): number => Math.floor(roundAt(window, GUTTER - window.columnWidth))
export const lastRound = (window: Window): number => Math.ceil(roundAt(window, window.width + window.columnWidth))

/** Zooms around a fixed point. */
export const zoomed = (window: Window, factor: number, around: number): Window => {
  const columnWidth = Math.min(WIDEST, Math.max(NARROWEST, window.columnWidth * factor))
  const round = roundAt(window, around)
  const right = round + (window.width - MARGIN_RIGHT - around) / columnWidth
  return { ...window, columnWidth, right }
}

export const radius = ({ columnWidth, laneHeight }: Window): number =>
  Math.max(1.4, Math.min(8, laneHeight * 0.32, columnWidth * 0.3))
