/** A chart with axes. The value under the pointer, or the last one, is written above it, also for screen readers. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import * as Moment from "../../client/Moment.js"
import * as Colours from "../show/Colours.js"
import * as Theme from "../show/Theme.js"
import * as Words from "../show/Words.js"
import * as Course from "./Course.js"

export interface Line {
  readonly name: string
  readonly tone: Tone
}

type Tone = "accent" | "second" | "third" | "good" | "bad"

interface Props {
  readonly title: string
  /** The period shown, such as "the last hour". */
  readonly window: string
  readonly course: Course.Course
  readonly lines: ReadonlyArray<Line>
  readonly write: (value: number) => string
  /** A shorter form beside the axis. */
  readonly writeShort?: (value: number) => string
  /** Bars; each line is stacked on the previous ones. */
  readonly isStacked?: boolean
  /** A value holds until the next one, without interpolation. */
  readonly isStepped?: boolean
  /** The axis starts at zero. */
  readonly fromZero?: boolean
  /** Seconds from bar to bar. */
  readonly step?: number
  /** The axis goes on until this second, if the values end before it. */
  readonly until?: number
  /** The axis shows whole numbers only. */
  readonly isWhole?: boolean
}

const variables = {
  quiet: "--quiet",
  line: "--line",
  accent: "--accent",
  second: "--second",
  third: "--third",
  good: "--good",
  bad: "--bad",
} as const

const HEIGHT = 170
const KEY = "udg-time"

/** uPlot draws every bar from zero, so the highest come first and lower ones cover them. */
const drawn = <A,>(of: ReadonlyArray<A>, isStacked: boolean): ReadonlyArray<A> => (isStacked ? of.toReversed() : of)

const dataOf = ({ course: { at, values }, isStacked = false }: Props): uPlot.AlignedData => [
  [...at],
  ...drawn(isStacked ? Course.stacked(values) : values, isStacked).map((line) => [...line]),
]

/** Leaves room above the values, and around a flat line. */
const scaleOf =
  (fromZero: boolean): uPlot.Range.Function =>
  (_, least, most) => {
    if (least === null || most === null || !Number.isFinite(most)) return [0, 1]
    const air = most === least ? Math.max(most * 0.01, 1e-9) : (most - least) * 0.08
    return fromZero ? [0, most === 0 ? 1 : most * 1.08] : [Math.max(0, least - air), most + air]
  }

/** Seconds on either side of a single point. */
const AROUND_ONE = 1_800

/** The most bars that have room for one label each. */
const FEW_BARS = 5

/** Half a bar more on either side, so that the first and last bars are not cut. uPlot adds a day to a single moment. */
const timesOf = ({ course: { at }, step = 0, until = 0 }: Props): uPlot.Range.MinMax => {
  const [first, newest] = [at[0], at.at(-1)]
  if (first === undefined || newest === undefined) return [null, null]
  const last = Math.max(newest, until)
  const air = step === 0 && at.length === 1 ? AROUND_ONE : step / 2
  return [first - air, last + air]
}

const MINUTE = 60
const DAY = 86_400
const MONTH = 28 * DAY

const toSecond = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const toMinute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })
const toDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })
const toMonth = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric" })

const toDayUtc = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" })

/** A time on the axis, as precise as the axis' steps in seconds. Bars of a day cover one of UTC. */
const written = (at: number, step: number, barStep = 0): string => {
  const days = barStep < DAY ? toDay : toDayUtc
  return Moment.local(step < MINUTE ? toSecond : step < DAY ? toMinute : step < MONTH ? days : toMonth, 1_000 * at)
}

type Palette = Readonly<Record<keyof typeof variables, string>>

/** Without a tick in the range, uPlot labels one outside of it, and the label would be cut. */
const within: uPlot.Axis.Filter = ({ scales }, splits) => {
  const { min, max } = scales["x"] ?? {}
  return splits.map((at) => (at < (min ?? at) || at > (max ?? at) ? null : at))
}

const every: uPlot.Axis.Filter = (_, splits) => splits

/** Ticks between whole numbers get no label, because they would repeat one. */
const whole: uPlot.Axis.Filter = (_, splits) => splits.map((value) => (Number.isInteger(value) ? value : null))

const axisOf = (palette: Palette, filter = every): uPlot.Axis => ({
  stroke: palette.quiet,
  font: "11px system-ui, sans-serif",
  grid: { stroke: palette.line, width: 1, filter },
  ticks: { stroke: palette.line, width: 1, size: 4, filter },
  filter,
})

/** Labels stand closer on a phone's plot, or a few minutes would contain no tick. */
const NARROW = 400

const bars = uPlot.paths.bars?.({ size: [0.9, 100] })
const steps = uPlot.paths.stepped?.({ align: 1 })

const pathsOf = ({ isStacked = false, isStepped = false }: Props): Pick<uPlot.Series, "paths"> => {
  const paths = isStacked ? bars : isStepped ? steps : undefined
  return paths === undefined ? {} : { paths }
}

const seriesOf = ({ name, tone }: Line, palette: Palette, props: Props): uPlot.Series => ({
  label: name,
  stroke: palette[tone],
  width: props.isStacked === true ? 0 : 1.5,
  // A single value makes no line, but it makes a bar.
  points: { show: props.course.at.length === 1 && props.isStacked !== true },
  // An area below a line says how large a value is, which it cannot on an axis that is cut.
  ...(props.isStacked === true
    ? { fill: palette[tone] }
    : props.fromZero === true
      ? { fill: `color-mix(in srgb, ${palette[tone]} 12%, transparent)` }
      : {}),
  ...pathsOf(props),
})

const optionsOf = (latest: () => Props, parent: HTMLElement, onMove: (index: number | null) => void): uPlot.Options => {
  const props = latest()
  const { lines, write, writeShort = write, isStacked = false, fromZero = false, isWhole = false } = props
  const { course, step: barStep = 0 } = props
  // From the body, because an outdated chart is greyed as a whole by the style sheet.
  const palette = Colours.read(document.body, variables)
  return {
    width: Math.max(200, parent.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    // Pointers of all charts move together.
    cursor: { sync: { key: KEY }, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      x: { time: true, range: () => timesOf(latest()) },
      y: { range: scaleOf(fromZero || isStacked) },
    },
    axes: [
      {
        ...axisOf(palette, within),
        size: 26,
        ...(barStep > 0 && course.at.length <= FEW_BARS ? { splits: () => [...course.at] } : {}),
        space: (_, __, ___, ____, width) => (width < NARROW ? 52 : 70),
        // Filtered ticks arrive as null.
        values: (_, splits: ReadonlyArray<number | null>, __, ___, step) =>
          splits.map((at) => (at === null ? null : written(at, Math.max(step, barStep), barStep))),
      },
      {
        ...axisOf(palette, isWhole ? whole : every),
        size: 66,
        space: 36,
        values: (_, splits: ReadonlyArray<number | null>) =>
          splits.map((value) => (value === null ? null : writeShort(value))),
      },
    ],
    series: [{}, ...drawn(lines, isStacked).map((line) => seriesOf(line, palette, props))],
    hooks: { setCursor: [({ cursor: { idx } }) => onMove(idx ?? null)] },
  }
}

const said = ({ title, window, course, lines, write, isStacked = false }: Props): string => {
  const ofLine = (i: number): string => {
    const there = (course.values[i] ?? []).filter((value) => value !== null)
    const last = there.at(-1)
    if (last === undefined) return "no values yet"
    return `between ${write(Math.min(...there))} and ${write(Math.max(...there))}, ${isStacked ? "last" : "now"} ${write(last)}`
  }
  const values = lines.map(({ name }, i) => (lines.length === 1 ? ofLine(i) : `${name} ${ofLine(i)}`))
  return `${title}, ${window}: ${values.join("; ")}`
}

/** When a point is from. Bars cover a time, and the last one can be long ago. */
const momentOf = (at: number, { step = 0 }: Props): string =>
  step < DAY ? Words.moment(1_000 * at) : written(at, step, step)

/** The values under the pointer, or the last ones. */
const Reading = ({ index, ...props }: Props & { readonly index: number | null }) => {
  const { course, lines, write, isStacked = false } = props
  const at = index ?? course.at.length - 1
  const moment = course.at[at]
  return (
    <p class="reading">
      {lines.map(({ name, tone }, i) => {
        const value = course.values[i]?.[at]
        return (
          <span key={name}>
            {lines.length === 1 ? undefined : <i class={`swatch ${tone}`} aria-hidden="true" />}
            {lines.length === 1 ? undefined : `${name} `}
            <b>{value === undefined || value === null ? "–" : write(value)}</b>
          </span>
        )
      })}
      <span class="quiet">
        {moment === undefined || (index === null && !isStacked) ? "now" : momentOf(moment, props)}
      </span>
    </p>
  )
}

export const Chart = (props: Props) => {
  const { title, course, isStacked = false } = props
  const parent = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const index = useSignal<number | null>(null)
  const theme = useComputed(() => Theme.colours.value)
  const latest = useRef(props)
  latest.current = props

  const make = (): void => {
    if (parent.current === null) return
    plot.current?.destroy()
    const options = optionsOf(
      () => latest.current,
      parent.current,
      (at) => {
        index.value = at
      },
    )
    plot.current = new uPlot(options, dataOf(latest.current), parent.current)
  }
  // uPlot reads colours and lines once, so a change of theme needs a new chart.
  useSignalEffect(() => {
    void theme.value
    make()
  })
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0)
      if (width > 0) plot.current?.setSize({ width, height: HEIGHT })
    })
    if (parent.current !== null) observer.observe(parent.current)
    return () => {
      observer.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [])
  useEffect(() => plot.current?.setData(dataOf(latest.current)), [course])

  const id = `chart-${title.toLowerCase().replaceAll(/\W+/g, "-")}`
  return (
    <section class={`chart ${isStacked ? "stacked" : ""}`} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <Reading {...props} index={index.value} />
      <div class="plot" ref={parent} role="img" aria-label={said(props)} />
    </section>
  )
}
