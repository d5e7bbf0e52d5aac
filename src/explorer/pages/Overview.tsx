import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Columns from "../dag/Columns.js"
import { DagCanvas } from "../dag/DagCanvas.js"
import * as Feed from "../dag/Feed.js"
import { Legend } from "../dag/Legend.js"
import { RoundTable } from "../dag/RoundTable.js"
import * as Network from "../live/Network.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Samples from "../live/Samples.js"
import * as Route from "../route/Route.js"
import { Bar } from "../show/Bar.js"
import { Loaded } from "../show/Loaded.js"
import { Page, Section } from "../show/Page.js"
import { Spark } from "../show/Spark.js"
import * as Words from "../show/Words.js"
import { HealthList } from "./HealthList.js"
import { TransactionTable } from "./TransactionTable.js"

interface FigureProps {
  readonly name: string
  readonly value: ComponentChildren
  readonly note?: ComponentChildren
  readonly children?: ComponentChildren
}

const Figure = ({ name, value, note, children }: FigureProps) => (
  <div class="figure-card">
    <h3>{name}</h3>
    <p class="value">{value}</p>
    {note === undefined ? undefined : <p class="note">{note}</p>}
    {children}
  </div>
)

const RATE_WINDOW_MS = 30_000

/** Transactions in each of the latest finalized rounds, for the small chart. */
const ratesOf = (columns: Columns.Columns): ReadonlyArray<number> => {
  const finalized = columns.between(columns.newest - 90, columns.newest).filter(({ isFinalized }) => isFinalized)
  return finalized.map(({ dots }) => dots.reduce((sum, { transactions }) => sum + transactions, 0))
}

const Figures = ({
  status,
  history,
}: {
  readonly status: Samples.Status
  readonly history: ReadonlyArray<Samples.Sample>
}) => {
  const { columns } = Feed.useColumns()
  const rate = Columns.transactionsPerSecond(columns, RATE_WINDOW_MS)
  const pace = Samples.roundsPerSecond(history)
  const lag = status.dag_round - status.last_finalized_round
  const course = (of: (status: Samples.Status) => number): ReadonlyArray<number> => history.map((one) => of(one.status))
  return (
    <div class="figures">
      <Figure
        name="Round"
        value={<a href={Route.subject("round", status.dag_round)}>{Words.count(status.dag_round)}</a>}
        note={pace === undefined ? "measuring" : `${pace.toFixed(1)} rounds per second`}
      />
      <Figure name="Finality lag" value={lag} note={`finalized to ${Words.count(status.last_finalized_round)}`}>
        <Spark values={course((one) => one.dag_round - one.last_finalized_round)} label="Finality lag" atLeast={10} />
      </Figure>
      <Figure
        name="Transactions per second"
        value={rate === undefined ? "–" : rate.toFixed(1)}
        note="finalized, last 30 s"
      >
        <Spark values={ratesOf(columns)} label="Transactions per round" atLeast={5} />
      </Figure>
      <Figure
        name="Mempool"
        value={<a href={Route.place("mempool")}>{Words.count(status.mempool_size)}</a>}
        note="of 10,000"
      >
        <Spark values={course((one) => one.mempool_size)} label="Pending transactions" atLeast={20} />
      </Figure>
      <Figure name="Supply" value={Words.aboutCoins(status.total_supply)} note="of at most 21 million UDG">
        <Bar
          label="Supply"
          total={Sats.MAX_SUPPLY}
          parts={[{ name: "of the cap", amount: status.total_supply, tone: "first" }]}
        />
      </Figure>
      <Figure
        name="Staked"
        value={Words.aboutCoins(status.total_staked)}
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
      <Figure
        name="Peers"
        value={<a href={Route.place("peers")}>{status.peers}</a>}
        note={`${Words.count(status.dag_vertices)} vertices held`}
      />
    </div>
  )
}

const LATEST = 10

const LatestTransactions = () => (
  <Loaded
    of={useResource("latest", () => node.transactions.latest({ urlParams: { limit: LATEST } }))}
    what="the latest transactions"
  >
    {({ transactions }) => <TransactionTable rows={transactions} empty="Nothing was finalized yet." isShort />}
  </Loaded>
)

export const Overview = () => {
  useEffect(Samples.watch, [])
  const history = Samples.samples.value
  const latest = history.at(-1)
  const health = useResource("health", () => node.core.healthReport())
  const info = Network.network.value
  const name = info === undefined ? undefined : `${info.mode} ${info.network_id}`
  return (
    <Page title="Overview" about={name}>
      <Section title="The DAG, live" aside={<a href={Route.place("dag")}>Open large</a>} class="wide">
        <DagCanvas height={220} />
        <Legend />
      </Section>
      <Loaded
        of={latest === undefined ? { state: "loading" } : { state: "ready", value: latest.status }}
        what="the node's figures"
      >
        {(status) => <Figures status={status} history={history} />}
      </Loaded>
      <div class="columns">
        <Section title="Latest rounds" aside={<a href={Route.place("dag")}>All in the DAG</a>}>
          <RoundTable count={8} />
        </Section>
        <div>
          <Section title="Health">
            <Loaded of={health} what="the node's health">
              {(report) => <HealthList report={report} />}
            </Loaded>
          </Section>
          <Section title="Latest transactions" aside={<a href={Route.place("transactions")}>All</a>}>
            <LatestTransactions />
          </Section>
        </div>
      </div>
    </Page>
  )
}
