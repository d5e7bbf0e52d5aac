import { useMemo } from "preact/hooks"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Live from "../live/Live.js"
import { type Answer, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Loaded } from "../show/Loaded.js"
import { Section } from "../show/Page.js"
import * as Words from "../show/Words.js"
import { Chart, type Line } from "./Chart.js"
import * as Figures from "./Figures.js"

type Span = Answer<"archive", "statistics">["statistics"][number]
type Unit = keyof typeof SECONDS

const SECONDS = { hour: 3_600, day: 86_400 } as const

interface Past {
  readonly unit: Unit
  /** Oldest first. */
  readonly spans: ReadonlyArray<Span>
}

const AT_ONCE = 500
/** For fewer days than this, hours are drawn. */
const FEW_DAYS = 4

const readAll = async (interval: Unit): Promise<ReadonlyArray<Span>> => {
  const newestFirst: Array<Span> = []
  for (;;) {
    const until = newestFirst.at(-1)?.timestamp
    const urlParams = { interval, limit: AT_ONCE, ...(until === undefined ? {} : { until }) }
    const { statistics } = await node.archive.statistics({ urlParams })
    newestFirst.push(...statistics)
    if (statistics.length < AT_ONCE) break
  }
  // The genesis orders no vertex and can be long before the first round.
  return newestFirst.filter(({ vertices }) => vertices > 0).toReversed()
}

const read = async (): Promise<Past> => {
  const days = await readAll("day")
  return days.length < FEW_DAYS ? { unit: "hour", spans: await readAll("hour") } : { unit: "day", spans: days }
}

interface Drawn {
  readonly title: string
  readonly lines: ReadonlyArray<Line>
  readonly of: ReadonlyArray<(span: Span) => number>
  readonly write: (value: number) => string
  readonly isStacked?: boolean
}

const coins = (sats: number): number => sats / Sats.SATS_PER_COIN

const charts = (unit: Unit): ReadonlyArray<Drawn> => [
  {
    title: `Transactions per ${unit}`,
    lines: [
      { name: "applied", tone: "good" },
      { name: "failed", tone: "bad" },
    ],
    of: [({ transactions, failed }) => transactions - failed, ({ failed }) => failed],
    write: Words.count,
    isStacked: true,
  },
  {
    title: `Fees per ${unit}, UDG`,
    lines: [{ name: "fees", tone: "accent" }],
    of: [({ fees }) => coins(fees)],
    write: Figures.someCoins,
    isStacked: true,
  },
  {
    title: `Vertices per ${unit}`,
    lines: [{ name: "vertices", tone: "second" }],
    of: [({ vertices }) => vertices],
    write: Words.count,
    isStacked: true,
  },
  {
    title: `Supply at the end of each ${unit}, UDG`,
    lines: [{ name: "supply", tone: "accent" }],
    of: [({ total_supply: supply }) => coins(supply)],
    write: Figures.manyCoins,
  },
]

const DrawnChart = ({
  drawn: { of, ...drawn },
  past: { unit, spans },
}: {
  readonly drawn: Drawn
  readonly past: Past
}) => {
  const course = useMemo(
    () => ({ at: spans.map(({ timestamp }) => timestamp / 1_000), values: of.map((value) => spans.map(value)) }),
    [spans],
  )
  return (
    <Chart
      {...drawn}
      window="since the network began"
      course={course}
      {...(drawn.isStacked === true ? { step: SECONDS[unit] } : {})}
    />
  )
}

/** Every day since the network began. Needs an archive. */
export const ArchiveCharts = () => {
  const past = useResource("the whole past", read, Live.slowBeat)
  return (
    <Section title="All time" aside="From the archive, in UTC. The last period is incomplete.">
      <Loaded of={past} what="the whole past" lines={8}>
        {(past) =>
          past.spans.length === 0 ? (
            <p class="notice empty">The archive has no vertex yet.</p>
          ) : (
            <div class="charts">
              {charts(past.unit).map((drawn) => (
                <DrawnChart key={drawn.title} drawn={drawn} past={past} />
              ))}
            </div>
          )
        }
      </Loaded>
    </Section>
  )
}
