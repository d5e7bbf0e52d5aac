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

const RoundsChart = ({ of, window }: { readonly of: Rounds; readonly window: Windows.Window }) => {
  const course = useMemo(() => {
    const total =
      (counts: ReadonlyArray<number>): Course.Of =>
      (first, end) =>
        Course.sum(counts, first, end)
    return Course.draw(of, { from: (of.at.at(-1) ?? 0) - window.spanMs, groupMs: of.step_ms }, [
      total(of.made),
      total(of.missed),
    ])
  }, [of, window])
  return (
    <Chart
      title="Rounds made and missed"
      window={window.label}
      course={course}
      lines={lines}
      write={Words.count}
      isStacked
    />
  )
}

/** A validator's rounds over time, as this node counted them. */
export const ValidatorUptime = ({ account }: { readonly account: string }) => {
  const window = Windows.chosen.value
  const rounds = useResource(
    `rounds ${account} ${window.range}`,
    () => node.monitoring.validatorRounds({ path: { address: account }, urlParams: { range: window.range } }),
    Live.slowBeat,
  )
  return (
    <Section title="Rounds over time" aside={<WindowChoice />}>
      <Loaded of={rounds} what="its rounds">
        {(of) =>
          of.at.length === 0 ? (
            <p class="notice empty">
              This node counted no round of it in {window.label}. A round counts once nothing more of it can be ordered.
            </p>
          ) : (
            <RoundsChart of={of} window={window} />
          )
        }
      </Loaded>
    </Section>
  )
}
