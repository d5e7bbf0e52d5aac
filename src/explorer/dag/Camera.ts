/**
 * The position of the view. It follows the newest round or stays where the reader moved it. Frames are requested only
 * while something moves or has changed.
 */
import type { Columns } from "./Columns.js"
import * as Window from "./Window.js"

/** The share of the distance to the newest round that one frame covers. */
const GLIDE = 0.16
const ARRIVED = 0.02
/** It jumps over longer distances. */
const FARTHEST_GLIDE = 40

const isCalm = matchMedia("(prefers-reduced-motion: reduce)")

export class Camera {
  readonly #columns: Columns
  readonly #paint: (window: Window.Window) => void
  readonly #onFollowing: (isFollowing: boolean) => void
  #window: Window.Window = { width: 0, height: 0, columnWidth: 22, laneHeight: 20, right: 0, top: 0 }
  #isFollowing = true
  #frame = 0

  constructor(columns: Columns, paint: (window: Window.Window) => void, onFollowing: (isFollowing: boolean) => void) {
    this.#columns = columns
    this.#paint = paint
    this.#onFollowing = onFollowing
  }

  get window(): Window.Window {
    return this.#window
  }

  get isFollowing(): boolean {
    return this.#isFollowing
  }

  set isFollowing(isFollowing: boolean) {
    if (this.#isFollowing !== isFollowing) this.#onFollowing(isFollowing)
    this.#isFollowing = isFollowing
    this.invalidate()
  }

  resize(width: number, height: number): void {
    this.#window = { ...this.#window, width, height }
    this.invalidate()
  }

  pan(columns: number): void {
    this.isFollowing = false
    const right = Math.min(this.#columns.newest + 2, Math.max(this.#columns.oldest, this.#window.right + columns))
    this.#window = { ...this.#window, right }
  }

  /** Scrolls vertically if not all lanes fit. */
  lift(pixels: number): void {
    const { height, laneHeight, top } = this.#window
    const least = Math.min(0, height - Window.AXIS - this.#columns.laneCount * laneHeight)
    if (least < 0) this.#window = { ...this.#window, top: Math.min(0, Math.max(least, top + pixels)) }
    this.invalidate()
  }

  zoom(factor: number, around = this.#window.width): void {
    const { right, ...zoomed } = Window.zoomed(this.#window, factor, around)
    this.#window = { ...zoomed, right: this.#isFollowing ? this.#window.right : right }
    this.invalidate()
  }

  /** Moves so that this round is at the right edge, and stays. */
  goTo(round: number): void {
    this.isFollowing = false
    this.#window = { ...this.#window, right: Math.min(this.#columns.newest, round) }
  }

  /** Moves so that this round is in the middle, and stays. */
  centre(round: number): void {
    const { width, columnWidth } = this.#window
    this.goTo(round + Math.floor((width - Window.GUTTER) / columnWidth / 2))
  }

  /** Moves just far enough to show the round. */
  show(round: number): void {
    const first = Window.roundAt(this.#window, Window.GUTTER + this.#window.columnWidth)
    if (round < first) this.pan(round - first)
    else if (round > this.#window.right) this.pan(round - this.#window.right)
  }

  /** Requests a repaint with the next frame. */
  invalidate(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#step())
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
  }

  #step(): void {
    this.#frame = 0
    const { width, height } = this.#window
    if (width === 0 || this.#columns.size === 0) return
    const lanes = this.#columns.laneCount
    const laneHeight = Window.laneHeightFor(height, lanes)
    const fits = lanes * laneHeight <= height - Window.AXIS
    const top = fits ? Window.topFor(height, lanes, laneHeight) : Math.min(0, this.#window.top)
    const right = this.#isFollowing ? this.#glided() : this.#window.right
    this.#window = { ...this.#window, laneHeight, top, right }
    this.#paint(this.#window)
    if (this.#isFollowing && right !== this.#columns.newest) this.invalidate()
  }

  #glided(): number {
    const { right } = this.#window
    const way = this.#columns.newest - right
    const isThere = Math.abs(way) < ARRIVED || Math.abs(way) > FARTHEST_GLIDE || isCalm.matches
    return isThere ? this.#columns.newest : right + way * GLIDE
  }
}
