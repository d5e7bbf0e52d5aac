/**
 * Paints a window of the DAG. Each column's edges and vertices have their own tile, which is repainted only when the
 * column, the size or the colours change. A frame copies a few hundred tiles, whatever their content.
 */
import type { Column, Columns, Dot } from "./Columns.js"
import type { Palette } from "./Palette.js"
import * as Window from "./Window.js"

interface Tile {
  readonly stamp: string
  readonly edges: HTMLCanvasElement
  readonly dots: HTMLCanvasElement
}

/** The vertex under the pointer, or selected with the keyboard. */
export interface Spot {
  readonly round: number
  readonly dot: Dot
}

const FULL_TURN = 2 * Math.PI
/** With more edges in a column, at a small size, only those of leaders and of each validator's own chain are drawn. */
const MANY_EDGES = 1_500
const ROOMY_COLUMN = 16
/** A margin around tiles for marks that extend beyond them. */
const BLEED = 10
const LABEL_DISTANCE = 64

const contextOf = (canvas: HTMLCanvasElement): CanvasRenderingContext2D => {
  const context = canvas.getContext("2d")
  if (context === null) throw new Error("this browser has no canvas")
  return context
}

const circle = (context: CanvasRenderingContext2D, x: number, y: number, radius: number): void => {
  context.beginPath()
  context.arc(x, y, radius, 0, FULL_TURN)
}

export class Painter {
  readonly #context: CanvasRenderingContext2D
  readonly #columns: Columns
  readonly #nameOf: (lane: number) => string
  readonly #palette: Palette
  readonly #tiles = new Map<number, Tile>()
  #pixels = 1

  constructor(canvas: HTMLCanvasElement, columns: Columns, palette: Palette, nameOf: (lane: number) => string) {
    this.#context = contextOf(canvas)
    this.#columns = columns
    this.#palette = palette
    this.#nameOf = nameOf
  }

  paint(window: Window.Window, pixels: number, spot: Spot | undefined): void {
    this.#pixels = pixels
    const context = this.#context
    const first = Math.max(0, Window.firstRound(window))
    const last = Window.lastRound(window)
    const visible = this.#columns.between(first, last)
    context.setTransform(pixels, 0, 0, pixels, 0, 0)
    context.fillStyle = this.#palette.paper
    context.fillRect(0, 0, window.width, window.height)
    this.#paintGround(window, visible)
    const tiles = visible.map((column) => [column, this.#tileOf(window, column)] as const)
    for (const [column, { edges }] of tiles) this.#copy(window, edges, column.round, window.columnWidth)
    for (const column of visible) this.#paintLongEdges(window, column)
    for (const [column, { dots }] of tiles) this.#copy(window, dots, column.round, window.columnWidth / 2)
    this.#paintEpochs(window, visible)
    if (spot !== undefined) this.#paintSpot(window, spot)
    this.#paintAxis(window, visible)
    this.#paintNames(window)
    this.#forget(first - 20, last + 20)
  }

  #copy(window: Window.Window, tile: HTMLCanvasElement, round: number, left: number): void {
    const x = Window.x(window, round) - left - BLEED
    const width = tile.width / this.#pixels
    if (x > window.width || x + width < 0) return
    // Whole pixels keep the copy sharp.
    this.#context.drawImage(
      tile,
      Math.round(x * this.#pixels) / this.#pixels,
      window.top - BLEED,
      width,
      tile.height / this.#pixels,
    )
  }

  #forget(first: number, last: number): void {
    for (const round of this.#tiles.keys()) if (round < first || round > last) this.#tiles.delete(round)
  }

  /** Final rounds have a plain background, others a tint. Lanes are thin lines. */
  #paintGround(window: Window.Window, visible: ReadonlyArray<Column>): void {
    const context = this.#context
    const bottom = window.height - Window.AXIS
    const settled = visible.findLast(({ isFinalized }) => isFinalized)
    const from = settled === undefined ? 0 : Window.x(window, settled.round + 0.5)
    context.fillStyle = this.#palette.wash
    context.fillRect(from, 0, window.width - from, bottom)
    context.strokeStyle = this.#palette.line
    context.lineWidth = 1
    context.beginPath()
    if (window.laneHeight >= 9) {
      for (let lane = 0; lane < this.#columns.laneCount; lane++) {
        const y = Math.round(Window.y(window, lane)) + 0.5
        context.moveTo(Window.GUTTER, y)
        context.lineTo(window.width, y)
      }
    }
    context.stroke()
  }

  /** A line with a number where an epoch begins. */
  #paintEpochs(window: Window.Window, visible: ReadonlyArray<Column>): void {
    const context = this.#context
    const bottom = window.height - Window.AXIS
    context.strokeStyle = this.#palette.quiet
    context.fillStyle = this.#palette.quiet
    context.font = this.#font
    context.textBaseline = "top"
    context.lineWidth = 1
    for (const { round, epoch } of visible) {
      const before = this.#columns.at(round - 1)?.epoch ?? epoch
      if (before === epoch) continue
      const x = Math.round(Window.x(window, round - 0.5)) + 0.5
      // For a column that is only partly visible, the line can be outside.
      if (x < Window.GUTTER || x > window.width) continue
      context.beginPath()
      context.moveTo(x, 0)
      context.lineTo(x, bottom)
      context.stroke()
      const text = `epoch ${epoch}`
      const fits = x + 4 + context.measureText(text).width <= window.width
      // Moves the number to the other side of the line if it would be cut.
      context.textAlign = fits ? "left" : "right"
      context.fillText(text, fits ? x + 4 : x - 4, 4)
    }
  }

  /** Narrow enough for an abbreviated address in the gutter. */
  get #nameFont(): string {
    return `10px ${getComputedStyle(this.#context.canvas).fontFamily}`
  }

  get #font(): string {
    return `11px ${getComputedStyle(this.#context.canvas).fontFamily}`
  }

  #tileOf(window: Window.Window, column: Column): Tile {
    const { columnWidth, laneHeight } = window
    const before = this.#columns.at(column.round - 1)
    const lanes = this.#columns.laneCount
    const isOver = this.#columns.isOver(column)
    const stamp = `${column.version} ${before?.version} ${columnWidth} ${laneHeight} ${lanes} ${this.#pixels} ${isOver}`
    const kept = this.#tiles.get(column.round)
    if (kept?.stamp === stamp) return kept
    const height = lanes * laneHeight
    const tile = {
      stamp,
      edges: this.#blank(columnWidth, height, (context) => this.#paintEdges(context, window, column, before)),
      dots: this.#blank(columnWidth, height, (context) => this.#paintDots(context, window, column)),
    }
    this.#tiles.set(column.round, tile)
    return tile
  }

  #blank(width: number, height: number, paint: (context: CanvasRenderingContext2D) => void): HTMLCanvasElement {
    const canvas = document.createElement("canvas")
    canvas.width = Math.ceil((width + 2 * BLEED) * this.#pixels)
    canvas.height = Math.ceil((height + 2 * BLEED) * this.#pixels)
    const context = contextOf(canvas)
    context.setTransform(this.#pixels, 0, 0, this.#pixels, BLEED * this.#pixels, BLEED * this.#pixels)
    paint(context)
    return canvas
  }

  /** From the previous round at the tile's left edge to this round at its right edge. */
  #paintEdges(
    context: CanvasRenderingContext2D,
    { columnWidth, laneHeight }: Window.Window,
    column: Column,
    before: Column | undefined,
  ): void {
    const edges = column.dots.reduce((sum, { parents }) => sum + parents.length, 0)
    const isCrowded = edges > MANY_EDGES && columnWidth < ROOMY_COLUMN
    const leader = before?.leader ?? null
    const height = (lane: number): number => (lane + 0.5) * laneHeight
    const draw = (
      colour: string,
      alpha: number,
      width: number,
      isWanted: (dot: Dot, parent: number) => boolean,
    ): void => {
      context.strokeStyle = colour
      context.globalAlpha = alpha
      context.lineWidth = width
      context.beginPath()
      for (const dot of column.dots) {
        for (const parent of dot.parents) {
          if (!isWanted(dot, parent)) continue
          context.moveTo(0, height(parent))
          context.lineTo(columnWidth, height(dot.lane))
        }
      }
      context.stroke()
      context.globalAlpha = 1
    }
    const density = Math.max(0.1, Math.min(0.75, 40 / Math.max(1, edges)))
    draw(
      this.#palette.edge,
      density,
      1,
      (dot, parent) => parent !== leader?.lane && (!isCrowded || dot.lane === parent),
    )
    if (leader === null) return
    // Edges to a leader are votes for it.
    draw(this.#palette.leader, Math.max(0.22, Math.min(0.8, 2 * density)), 1.1, (_, parent) => parent === leader.lane)
  }

  #paintDots(context: CanvasRenderingContext2D, window: Window.Window, column: Column): void {
    const radius = Window.radius(window)
    const { leader, dots } = column
    const x = window.columnWidth / 2
    const isOver = this.#columns.isOver(column)
    const isUndecidedForever = isOver && leader?.verdict === "undecided"
    for (const dot of dots) {
      const y = (dot.lane + 0.5) * window.laneHeight
      const isLeader = leader?.lane === dot.lane
      circle(context, x, y, isLeader ? radius * 1.3 : radius)
      context.fillStyle = this.#fillOf(dot, isLeader && leader?.verdict === "committed")
      context.fill()
      context.strokeStyle = dot.commit === null ? this.#palette.pending : context.fillStyle
      context.lineWidth = 1.2
      // Dropped when its epoch closed.
      context.setLineDash(isOver && dot.commit === null ? [2, 2] : [])
      context.stroke()
      context.setLineDash([])
      if (isLeader && !isUndecidedForever) this.#ring(context, x, y, radius)
      if (dot.transactions > 0 && radius >= 3) {
        circle(context, x, y, radius * 0.38)
        context.fillStyle = dot.commit === null ? this.#palette.pending : this.#palette.paper
        context.fill()
      }
    }
    if (leader?.verdict === "skipped") this.#cross(context, x, (leader.lane + 0.5) * window.laneHeight, radius)
    else if (leader !== null && !isUndecidedForever && !dots.some(({ lane }) => lane === leader.lane)) {
      this.#ring(context, x, (leader.lane + 0.5) * window.laneHeight, radius)
    }
  }

  #fillOf({ commit }: Dot, isCommittedLeader: boolean): string {
    if (isCommittedLeader) return this.#palette.leader
    return commit === null ? this.#palette.paper : this.#palette[commit % 2 === 0 ? "even" : "odd"]
  }

  #ring(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
    circle(context, x, y, radius * 1.3 + 2.2)
    context.strokeStyle = this.#palette.leader
    context.lineWidth = 1.3
    context.stroke()
  }

  #cross(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
    const arm = Math.max(3, radius * 1.1)
    context.strokeStyle = this.#palette.skipped
    context.lineWidth = 2
    context.beginPath()
    context.moveTo(x - arm, y - arm)
    context.lineTo(x + arm, y + arm)
    context.moveTo(x + arm, y - arm)
    context.lineTo(x - arm, y + arm)
    context.stroke()
  }

  /** Edges over several rounds do not fit on a tile; they are few. */
  #paintLongEdges(window: Window.Window, { round, dots }: Column): void {
    const context = this.#context
    context.strokeStyle = this.#palette.edge
    context.lineWidth = 1
    context.setLineDash([3, 3])
    context.beginPath()
    for (const { lane, olderParents } of dots) {
      for (const parent of olderParents) {
        context.moveTo(Window.x(window, parent.round), Window.y(window, parent.lane))
        context.lineTo(Window.x(window, round), Window.y(window, lane))
      }
    }
    context.stroke()
    context.setLineDash([])
  }

  #paintSpot(window: Window.Window, { round, dot }: Spot): void {
    const context = this.#context
    const x = Window.x(window, round)
    const y = Window.y(window, dot.lane)
    const parents = [...dot.parents.map((lane) => ({ round: round - 1, lane })), ...dot.olderParents]
    context.strokeStyle = this.#palette.ink
    context.lineWidth = 1.6
    context.beginPath()
    for (const parent of parents) {
      context.moveTo(Window.x(window, parent.round), Window.y(window, parent.lane))
      context.lineTo(x, y)
    }
    context.stroke()
    circle(context, x, y, Window.radius(window) + 5)
    context.lineWidth = 2
    context.stroke()
  }

  #paintAxis(window: Window.Window, visible: ReadonlyArray<Column>): void {
    const context = this.#context
    const top = window.height - Window.AXIS
    context.fillStyle = this.#palette.paper
    context.fillRect(0, top, window.width, Window.AXIS)
    context.fillStyle = this.#palette.quiet
    context.font = this.#font
    context.textBaseline = "middle"
    context.textAlign = "center"
    const step = [1, 2, 5, 10, 20, 50].find((size) => size * window.columnWidth >= LABEL_DISTANCE) ?? 100
    for (const { round } of visible.filter(({ round }) => round % step === 0)) {
      const [text, x] = [String(round), Window.x(window, round)]
      const half = context.measureText(text).width / 2
      // A number that is cut reads as another one.
      if (x - half < Window.GUTTER || x + half > window.width) continue
      context.fillText(text, x, top + Window.AXIS / 2)
    }
  }

  #paintNames(window: Window.Window): void {
    const context = this.#context
    const bottom = window.height - Window.AXIS
    context.fillStyle = this.#palette.paper
    context.fillRect(0, 0, Window.GUTTER, window.height)
    context.fillStyle = this.#palette.quiet
    context.font = this.#nameFont
    context.textAlign = "left"
    context.textBaseline = "middle"
    const step = Math.ceil(13 / window.laneHeight)
    for (let lane = 0; lane < this.#columns.laneCount; lane += step) {
      const y = Window.y(window, lane)
      if (y > 0 && y < bottom) context.fillText(this.#nameOf(lane), 8, y)
    }
  }
}
