/** Pointer, wheel and keys on the canvas: selecting vertices and moving the view. */
import type { Camera } from "./Camera.js"
import type { Columns, Dot } from "./Columns.js"
import type { Spot } from "./Painter.js"
import * as Window from "./Window.js"

interface Doing {
  readonly onSpot: (spot: Spot | undefined) => void
  readonly onOpen: (spot: Spot) => void
  /** Whether the wheel zooms and pans here, or scrolls the page. */
  readonly takesWheel: boolean
}

/** Shorter movements are clicks. */
const CLICK_PX = 5
const REACH_PX = 12
const WHEEL_ZOOM = 0.0022
const KEY_ZOOM = 1.35

interface Point {
  readonly x: number
  readonly y: number
}

export class Gestures {
  readonly #canvas: HTMLCanvasElement
  readonly #camera: Camera
  readonly #columns: Columns
  readonly #doing: Doing
  readonly #pointers = new Map<number, Point>()
  readonly #listening = new AbortController()
  #spot: Spot | undefined
  #way = 0

  constructor(canvas: HTMLCanvasElement, camera: Camera, columns: Columns, doing: Doing) {
    this.#canvas = canvas
    this.#camera = camera
    this.#columns = columns
    this.#doing = doing
    const { signal } = this.#listening
    canvas.addEventListener("pointerdown", (event) => this.#down(event), { signal })
    canvas.addEventListener("pointermove", (event) => this.#move(event), { signal })
    canvas.addEventListener("pointerup", (event) => this.#up(event), { signal })
    canvas.addEventListener("pointercancel", (event) => this.#pointers.delete(event.pointerId), { signal })
    canvas.addEventListener("pointerleave", () => this.#point(undefined), { signal })
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false })
    canvas.addEventListener("keydown", (event) => this.#key(event), { signal })
    canvas.addEventListener("blur", () => this.#point(undefined), { signal })
  }

  get spot(): Spot | undefined {
    return this.#spot
  }

  release(): void {
    this.#listening.abort()
  }

  /** Selects a vertex as if the pointer were on it. */
  select(spot: Spot): void {
    this.#point(spot)
  }

  #point(spot: Spot | undefined): undefined {
    if (spot?.dot.hash === this.#spot?.dot.hash) return
    this.#spot = spot
    this.#canvas.style.cursor = spot === undefined ? "grab" : "pointer"
    this.#doing.onSpot(spot)
    this.#camera.invalidate()
  }

  #at({ offsetX, offsetY }: PointerEvent): Spot | undefined {
    const { window } = this.#camera
    const round = Math.round(Window.roundAt(window, offsetX))
    const away = (dot: Dot): number =>
      Math.hypot(Window.x(window, round) - offsetX, Window.y(window, dot.lane) - offsetY)
    const dots = [...(this.#columns.at(round)?.dots ?? [])].sort((a, b) => away(a) - away(b))
    const [dot] = dots
    const reach = Math.max(REACH_PX, window.columnWidth / 2)
    return dot === undefined || away(dot) > reach ? undefined : { round, dot }
  }

  #down(event: PointerEvent): void {
    this.#canvas.setPointerCapture(event.pointerId)
    this.#pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY })
    this.#way = 0
  }

  #move(event: PointerEvent): undefined {
    const before = this.#pointers.get(event.pointerId)
    if (before === undefined) return this.#point(this.#at(event))
    const now = { x: event.offsetX, y: event.offsetY }
    const [other] = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point)
    this.#pointers.set(event.pointerId, now)
    if (other !== undefined) return this.#pinch(before, now, other)
    this.#way += Math.abs(now.x - before.x) + Math.abs(now.y - before.y)
    if (this.#way < CLICK_PX) return
    this.#point(undefined)
    this.#camera.pan((before.x - now.x) / this.#camera.window.columnWidth)
    this.#camera.lift(now.y - before.y)
  }

  #pinch(before: Point, now: Point, other: Point): undefined {
    const distance = (point: Point): number => Math.max(20, Math.hypot(point.x - other.x, point.y - other.y))
    this.#way += CLICK_PX
    this.#camera.zoom(distance(now) / distance(before), (now.x + other.x) / 2)
  }

  #up(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId)
    const spot = this.#way < CLICK_PX ? this.#at(event) : undefined
    if (spot !== undefined) this.#doing.onOpen(spot)
  }

  #wheel(event: WheelEvent): void {
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY)
    if (!isSideways && !event.ctrlKey && !this.#doing.takesWheel) return
    event.preventDefault()
    if (isSideways || event.shiftKey) {
      const way = isSideways ? event.deltaX : event.deltaY
      this.#camera.pan(way / this.#camera.window.columnWidth)
    } else this.#camera.zoom(Math.exp(-event.deltaY * WHEEL_ZOOM), event.offsetX)
  }

  #key(event: KeyboardEvent): void {
    const acts: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.#go(-1, 0),
      ArrowRight: () => this.#go(1, 0),
      ArrowUp: () => this.#go(0, -1),
      ArrowDown: () => this.#go(0, 1),
      "+": () => this.#camera.zoom(KEY_ZOOM),
      "=": () => this.#camera.zoom(KEY_ZOOM),
      "-": () => this.#camera.zoom(1 / KEY_ZOOM),
      End: () => {
        this.#camera.isFollowing = true
      },
      " ": () => {
        this.#camera.isFollowing = !this.#camera.isFollowing
      },
      Enter: () => {
        if (this.#spot !== undefined) this.#doing.onOpen(this.#spot)
      },
      Escape: () => this.#point(undefined),
    }
    const act = acts[event.key]
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act()
  }

  /** Selects the next vertex in a direction. */
  #go(rounds: number, lanes: number): void {
    const from = this.#spot ?? { round: this.#columns.newest + 1, dot: { lane: 0 } }
    const round = this.#spot === undefined ? this.#columns.newest : from.round + rounds
    const dots = [...(this.#columns.at(round)?.dots ?? [])].sort((a, b) => a.lane - b.lane)
    const lane = from.dot.lane + lanes
    const dot =
      lanes < 0 ? dots.findLast((one) => one.lane <= lane) : (dots.find((one) => one.lane >= lane) ?? dots.at(-1))
    if (dot === undefined) return
    this.#camera.isFollowing = false
    this.#point({ round, dot })
    this.#camera.show(round)
  }
}
