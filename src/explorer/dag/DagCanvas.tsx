/** The live DAG on a canvas, controlled by pointer, wheel and keys. Each vertex links to its page. */
import { useEffect, useRef, useState } from "preact/hooks"
import * as AccountName from "../live/AccountName.js"
import * as Network from "../live/Network.js"
import * as History from "../route/History.js"
import * as Route from "../route/Route.js"
import { Icon } from "../show/Icon.js"
import * as Theme from "../show/Theme.js"
import * as Words from "../show/Words.js"
import { Camera } from "./Camera.js"
import * as Feed from "./Feed.js"
import { Gestures } from "./Gestures.js"
import { Hint } from "./Hint.js"
import { Painter, type Spot } from "./Painter.js"
import * as Palette from "./Palette.js"
import * as Window from "./Window.js"

interface Props {
  /** Pixels. */
  readonly height: number
  /** With buttons and wheel zoom. */
  readonly isLarge?: boolean
}

const nameOf = (lane: number): string => {
  const address = Feed.columns.lanes[lane]
  if (address === undefined) return ""
  return Words.within(AccountName.of(address) ?? Words.abbreviated(Network.written(address)), Window.NAME_CHARACTERS)
}

/** Rounds preloaded to the left of the view. */
const AHEAD_ROUNDS = 30

export const DagCanvas = ({ height, isLarge = false }: Props) => {
  const { columns, version } = Feed.useColumns()
  const canvas = useRef<HTMLCanvasElement>(null)
  const painter = useRef<Painter | null>(null)
  const camera = useRef<Camera | null>(null)
  const gestures = useRef<Gestures | null>(null)
  const [spot, setSpot] = useState<Spot | undefined>(undefined)
  const [isFollowing, setIsFollowing] = useState(true)
  const [right, setRight] = useState(0)
  const [sought, setSought] = useState(isLarge ? soughtBy : undefined)
  const prefix = Network.network.value?.address_prefix
  // Read here, so that a name that arrives later is painted.
  const names = columns.lanes.map(AccountName.of).join()
  const colours = Theme.colours.value

  // Other colours change the painter only, so that the view stays where the reader moved it.
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    painter.current = new Painter(element, columns, Palette.read(element.parentElement ?? document.body), nameOf)
  }, [columns, colours])

  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const view = new Camera(
      columns,
      (window) => {
        const pixels = devicePixelRatio
        element.width = Math.round(window.width * pixels)
        element.height = Math.round(window.height * pixels)
        painter.current?.paint(window, pixels, gestures.current?.spot)
        void Feed.want(Window.firstRound(window) - AHEAD_ROUNDS, Window.lastRound(window))
        setRight(Math.round(window.right))
      },
      setIsFollowing,
    )
    const hands = new Gestures(element, view, columns, {
      onSpot: setSpot,
      onOpen: ({ dot }) => History.go(Route.subject("vertex", dot.hash)),
      takesWheel: isLarge,
    })
    camera.current = view
    gestures.current = hands
    const observer = new ResizeObserver(() => view.resize(element.clientWidth, element.clientHeight))
    observer.observe(element)
    return () => {
      observer.disconnect()
      hands.release()
      view.stop()
    }
  }, [columns, isLarge])

  useEffect(() => camera.current?.invalidate(), [version, names, prefix, colours])

  // Centres the round of the vertex that a link names, and selects the vertex once it is loaded.
  useEffect(() => {
    if (sought === undefined || columns.size === 0) return
    camera.current?.centre(sought.round)
    const dot = columns.at(sought.round)?.dots.find(({ hash }) => hash === sought.hash)
    if (dot === undefined) return
    gestures.current?.select({ round: sought.round, dot })
    setSought(undefined)
  }, [version, sought])

  const seen = `${Words.counted(columns.laneCount, "validator")}, ${Words.counted(columns.size, "round")} up to ${Words.count(Math.max(0, columns.newest))}`
  return (
    <div class={`dag ${isLarge ? "large" : ""}`}>
      {isLarge ? <Buttons camera={camera.current} isFollowing={isFollowing} /> : undefined}
      <div class="dag-stage">
        {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it handles keys, as its label explains */}
        <canvas
          ref={canvas}
          style={{ height: `${height}px` }}
          tabIndex={0}
          role="application"
          aria-roledescription="live graph"
          aria-label={`The DAG: ${seen}. Arrow keys move from vertex to vertex, Enter opens one, space pauses, plus and minus zoom. The table of rounds below shows the same.`}
        />
        {columns.size === 0 ? <p class="dag-waiting">Waiting for the first vertices…</p> : undefined}
        <Hint spot={spot} window={camera.current?.window} />
        {isFollowing || isLarge ? undefined : (
          <button type="button" class="button dag-back" onClick={() => follow(camera.current)}>
            <Icon name="latest" /> Latest
          </button>
        )}
      </div>
      {isLarge ? <Timeline right={right} newest={columns.newest} camera={camera.current} /> : undefined}
    </div>
  )
}

/** Drag it to replay earlier rounds. */
const Timeline = ({ right, newest, camera }: TimelineProps) => (
  <label class="dag-time">
    <span class="quiet">Replay</span>
    <input
      type="range"
      min={Feed.firstKept.value}
      max={Math.max(1, newest)}
      value={right}
      aria-valuetext={`up to round ${Words.count(right)}`}
      onInput={({ currentTarget }) => camera?.goTo(Number(currentTarget.value))}
    />
    <span class="figure">{Words.count(right)}</span>
  </label>
)

interface TimelineProps {
  /** The round at the right edge. */
  readonly right: number
  readonly newest: number
  readonly camera: Camera | null
}

interface Sought {
  readonly round: number
  readonly hash: string
}

const soughtBy = (): Sought | undefined => {
  const query = new URLSearchParams(location.search)
  const round = query.get("round") ?? ""
  return /^\d{1,15}$/.test(round) ? { round: Number(round), hash: query.get("vertex") ?? "" } : undefined
}

const follow = (camera: Camera | null): void => {
  if (camera !== null) camera.isFollowing = true
}

const Buttons = ({ camera, isFollowing }: { readonly camera: Camera | null; readonly isFollowing: boolean }) => (
  <div class="dag-buttons" role="toolbar" aria-label="View of the DAG">
    <button
      type="button"
      class="button"
      onClick={() => {
        if (camera !== null) camera.isFollowing = !isFollowing
      }}
    >
      <Icon name={isFollowing ? "pause" : "latest"} /> {isFollowing ? "Pause" : "Latest"}
    </button>
    <button
      type="button"
      class="icon-button"
      aria-label="Zoom out"
      title="Zoom out"
      onClick={() => camera?.zoom(1 / 1.35)}
    >
      <Icon name="minus" />
    </button>
    <button type="button" class="icon-button" aria-label="Zoom in" title="Zoom in" onClick={() => camera?.zoom(1.35)}>
      <Icon name="plus" />
    </button>
  </div>
)
