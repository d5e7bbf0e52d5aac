import { useMemo } from "preact/hooks"
import { ArchiveCharts } from "../charts/ArchiveCharts.js"
import { Chart } from "../charts/Chart.js"
import * as Course from "../charts/Course.js"
import * as Figures from "../charts/Figures.js"
import { WindowChoice } from "../charts/WindowChoice.js"
import * as Windows from "../charts/Windows.js"
import { type Past, usePast } from "../live/MetricsHistory.js"
import * as Network from "../live/Network.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Loaded } from "../show/Loaded.js"
import { Page, Section } from "../show/Page.js"
import { StakeShares } from "../validators/StakeShares.js"

const FigureChart = ({
  figure: { title, of, write, fromZero },
  past,
  window,
}: {
  readonly figure: Figures.Figure
  readonly past: Past
  readonly window: Windows.Window
}) => {
  const course = useMemo(
    () => Course.draw(past, { from: (past.at.at(-1) ?? 0) - window.spanMs, groupMs: window.groupMs }, [of(past)]),
    [past, window, of],
  )
  return (
    <Chart
      title={title}
      window={window.label}
      course={course}
      lines={[{ name: title, tone: "accent" }]}
      write={write}
      fromZero={fromZero}
    />
  )
}

export const Charts = () => {
  const window = Windows.chosen.value
  const past = usePast(window.range)
  const validators = useResource("validators", () => node.staking.validators())
  return (
    <Page title="Charts" about="Measured by this node. Gaps are times when it did not run.">
      <WindowChoice />
      <Loaded of={past} what="the figures over time" lines={8}>
        {(value) => (
          <div class="charts">
            {Figures.all.map((figure) => (
              <FigureChart key={figure.title} figure={figure} past={value} window={window} />
            ))}
          </div>
        )}
      </Loaded>
      {Network.network.value?.has_archive === true ? <ArchiveCharts /> : undefined}
      <Section title="Stake by validator">
        <Loaded of={validators} what="the validators">
          {(list) => <StakeShares list={list} />}
        </Loaded>
      </Section>
    </Page>
  )
}
