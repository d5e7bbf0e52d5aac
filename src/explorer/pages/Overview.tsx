import type { ComponentChildren } from "preact"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Course from "../charts/Course.js"
import * as Figures from "../charts/Figures.js"
import { DagCanvas } from "../dag/DagCanvas.js"
import { Legend } from "../dag/Legend.js"
import { RoundTable } from "../dag/RoundTable.js"
import * as Health from "../live/Health.js"
import * as Live from "../live/Live.js"
import { type Past, usePast } from "../live/MetricsHistory.js"
import * as Network from "../live/Network.js"
import { type Answer, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Bar } from "../show/Bar.js"
import { Loaded } from "../show/Loaded.js"
import { Page, Section } from "../show/Page.js"
import { Spark } from "../show/Spark.js"
import * as Words from "../show/Words.js"
import { HealthList } from "./HealthList.js"
import { TransactionTable } from "./TransactionTable.js"

type Status = Answer<"core", "status">

interface FigureProps {
  readonly name: string
  readonly value: ComponentChildren
  readonly note: ComponentChildren
  readonly children?: ComponentChildren
}

const Figure = ({ name, value, note, children }: FigureProps) => {
  const oldSince = Live.standstill.value
  return (
    <div class="figure-card">
      <h3>{name}</h3>
      <p class="value">{value}</p>
      <p class="note">{oldSince === undefined ? note : `as of ${Words.timeOfDay(oldSince)}`}</p>
      {children}
    </div>
  )
}

const About = ({ sats }: { readonly sats: number }) => (
  <>
    {Words.aboutCoins(sats)} <span class="unit">UDG</span>
  </>
)

const SPARK_MS = 600_000
const SPARK_GROUP_MS = 10_000

/** The last ten minutes, as the node recorded them. */
const Trend = ({ figure: { title, of, write }, past }: { readonly figure: Figures.Figure; readonly past: Past }) => {
  const { values } = Course.draw(past, { from: (past.at.at(-1) ?? 0) - SPARK_MS, groupMs: SPARK_GROUP_MS }, [of(past)])
  return <Spark values={(values[0] ?? []).filter((value) => value !== null)} label={title} write={write} />
}

const RATE_POINTS = 30

/** Over the last half minute. */
const lately = (figure: Figures.Figure, past: Past | undefined): string => {
  if (past === undefined) return "–"
  const value = figure.of(past)(Math.max(0, past.at.length - RATE_POINTS), past.at.length)
  return value === null ? "–" : figure.write(value)
}

const KeyFigures = ({ status, past }: { readonly status: Status; readonly past: Past | undefined }) => {
  // The same moment as at the top of the page; the status can lag by two seconds.
  const ofStatus = { round: status.dag_round, finalizedRound: status.last_finalized_round }
  const { round, finalizedRound } = Live.head.value ?? ofStatus
  const trend = (figure: Figures.Figure) => (past === undefined ? undefined : <Trend figure={figure} past={past} />)
  return (
    <div class="figures">
      <Figure
        name="Round"
        value={<a href={Route.subject("round", round)}>{Words.count(round)}</a>}
        note={`${lately(Figures.rounds, past)} rounds per second`}
      >
        {trend(Figures.rounds)}
      </Figure>
      <Figure
        name="Time to finality"
        value={`${lately(Figures.finality, past)} s`}
        note={`${Words.counted(round - finalizedRound, "round")} behind, finalized to ${Words.count(finalizedRound)}`}
      >
        {trend(Figures.finality)}
      </Figure>
      <Figure
        name="Transactions per second"
        value={<a href={Route.place("charts")}>{lately(Figures.transactions, past)}</a>}
        note="finalized, last 30 s"
      >
        {trend(Figures.transactions)}
      </Figure>
      <Figure
        name="Mempool"
        value={<a href={Route.place("mempool")}>{Words.count(status.mempool_size)}</a>}
        note="of 10,000"
      >
        {trend(Figures.mempool)}
      </Figure>
      <Figure name="Supply" value={<About sats={status.total_supply} />} note="of at most 21 million UDG">
        <Bar
          label="Supply"
          total={Sats.MAX_SUPPLY}
          parts={[{ name: "of the cap", amount: status.total_supply, tone: "first" }]}
        />
      </Figure>
      <Figure
        name="Staked"
        value={<About sats={status.total_staked} />}
        note={`${Words.percent(status.total_staked / status.total_supply)} of supply`}
      >
        <Bar
          label="Stake"
          total={status.total_supply}
          parts={[{ name: "of the supply", amount: status.total_staked, tone: "second" }]}
        />
      </Figure>
      <Figure
        name="Validators"
        value={<a href={Route.place("validators")}>{status.active_stakers}</a>}
        note="active, of 100 seats"
      />
      <Figure name="Peers" value={<a href={Route.place("peers")}>{status.peers}</a>} note="connected to this node" />
    </div>
  )
}

const LATEST = 15

const LatestTransactions = () => (
  <Loaded
    of={useResource("latest", () => node.transactions.latest({ urlParams: { limit: LATEST } }))}
    what="the latest transactions"
  >
    {({ transactions }) => <TransactionTable rows={transactions} empty="Nothing has been finalized yet." isShort />}
  </Loaded>
)

export const Overview = () => {
  const status = useResource("status", () => node.core.status())
  const past = usePast("hour")
  const info = Network.network.value
  const name = info === undefined ? undefined : `${info.mode} ${info.network_id}`
  return (
    <Page title="Overview" about={name}>
      <Section title="The DAG, live" aside={<a href={Route.place("dag")}>Open large</a>} class="wide">
        <DagCanvas height={220} />
        <Legend />
      </Section>
      <Loaded of={status} what="the node's figures">
        {(value) => <KeyFigures status={value} past={past.state === "ready" ? past.value : undefined} />}
      </Loaded>
      <div class="columns">
        <div>
          <Section title="Latest rounds" aside={<a href={Route.place("dag")}>All in the DAG</a>}>
            <RoundTable count={8} isShort />
          </Section>
          <Section title="Health">
            <Loaded of={Health.health.value} what="the node's health">
              {(report) => <HealthList report={report} />}
            </Loaded>
          </Section>
        </div>
        <Section title="Latest transactions" aside={<a href={Route.place("transactions")}>All</a>}>
          <LatestTransactions />
        </Section>
      </div>
    </Page>
  )
}
