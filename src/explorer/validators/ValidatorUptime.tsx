import { useMemo } from "preact/hooks"
import { Chart, type Line } from "../charts/Chart.js"
import * as Course from "../charts/Course.js"
import { WindowChoice } from "../charts/WindowChoice.js"
import * as Windows from "../charts/Windows.js"
import * as Live from "../live/Live.js"
import { type Answer, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Loaded } from "../show/Loaded.js"
import { Section } from "../show/Page.js"
import * as Words from "../show/Words.js"

type Rounds = Answer<"monitoring", "validatorRounds">

const lines: ReadonlyArray<Line> = [
  { name: "made", tone: "good" },
  { name: "missed", tone: "bad" },
]

const level =
  (values: ReadonlyArray<number | null>): Course.Of =>
  (_, end) =>
    values[end - 1] ?? null

/** Delegations change between points. */
const BackingCharts = ({ of, window }: { readonly of: Rounds; readonly window: Windows.Window }) => {
  const until = useMemo(() => Date.now(), [of])
  const [counts, amounts] = useMemo(() => {
    const stretch = { from: until - window.spanMs, groupMs: of.step_ms }
    return [of.delegators, of.delegated].map((values) => Course.draw(of, stretch, [level(values)]))
  }, [of, window])
  if (counts === undefined || amounts === undefined) return null
  if (counts.values.every((line) => line.every((value) => value === null || value === 0))) {
    return (
      <section class="chart">
        <h3>Delegators</h3>
        <p class="notice empty">Nobody is known to have delegated to it in {window.label}.</p>
      </section>
    )
  }
  return (
    <>
      <Chart
        title="Delegators"
        window={window.label}
        course={counts}
        lines={[{ name: "delegators", tone: "accent" }]}
        write={Words.count}
        isWhole
        isStepped
        fromZero
        until={until / 1_000}
      />
      <Chart
        title="Delegated, UDG"
        window={window.label}
        course={amounts}
        lines={[{ name: "delegated", tone: "accent" }]}
        write={Words.coins}
        writeShort={Words.aboutCoins}
        isStepped
        fromZero
        until={until / 1_000}
      />
    </>
  )
}

const RoundsChart = ({ of, window }: { readonly of: Rounds; readonly window: Windows.Window }) => {
  const until = useMemo(() => Date.now(), [of])
  const course = useMemo(() => {
    const total =
      (counts: ReadonlyArray<number>): Course.Of =>
      (first, end) =>
        Course.sum(counts, first, end)
    return Course.draw(of, { from: until - window.spanMs, groupMs: of.step_ms }, [total(of.made), total(of.missed)])
  }, [of, window])
  return (
    <Chart
      title="Rounds made and missed"
      window={window.label}
      course={course}
      lines={lines}
      write={Words.count}
      isStacked
      step={of.step_ms / 1_000}
      until={until / 1_000}
    />
  )
}

/** A validator's rounds and delegations over time, as this node counted them. */
export const ValidatorUptime = ({ account }: { readonly account: string }) => {
  const window = Windows.chosen.value
  const rounds = useResource(
    `rounds ${account} ${window.range}`,
    () => node.monitoring.validatorRounds({ path: { address: account }, urlParams: { range: window.range } }),
    Live.slowBeat,
  )
  return (
    <Section title="Rounds and delegations over time" aside={<WindowChoice />}>
      <Loaded of={rounds} what="its rounds">
        {(of) =>
          (of.at.at(-1) ?? 0) < Date.now() - window.spanMs ? (
            <p class="notice empty">
              This node counted none of its rounds in {window.label}. A round counts while it has a seat, once none of
              its vertices can still be ordered.
            </p>
          ) : (
            <div class="charts">
              <RoundsChart of={of} window={window} />
              <BackingCharts of={of} window={window} />
            </div>
          )
        }
      </Loaded>
    </Section>
  )
}
