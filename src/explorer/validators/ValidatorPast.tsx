import { computed } from "@preact/signals"
import { useMemo } from "preact/hooks"
import type { Address } from "../../protocol/identity/Address.js"
import { Chart } from "../charts/Chart.js"
import type { Course } from "../charts/Course.js"
import * as Live from "../live/Live.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Amount } from "../show/Amount.js"
import { Loaded } from "../show/Loaded.js"
import { Section } from "../show/Page.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"
import * as ValidatorHistory from "./ValidatorHistory.js"

/** Each needs a response with a committee; a browser has about a thousand requests a minute. */
const EPOCHS = 20

/** Signed committees never change. */
const known = new Map<number, ValidatorHistory.Opening>()

const readOpenings = async (): Promise<ReadonlyArray<ValidatorHistory.Opening>> => {
  const { checkpoints } = await node.checkpoints.list({ urlParams: { limit: EPOCHS, closing: "only" } })
  for (const { round, timestamp } of checkpoints) {
    if (known.has(round)) continue
    const { next_epoch: opened } = await node.checkpoints.checkpoint({ path: { round } })
    const weights = new Map((opened?.members ?? []).map(({ address, weight }) => [address, weight] as const))
    known.set(round, { timestamp, weights })
  }
  return checkpoints.flatMap(({ round }) => known.get(round) ?? [])
}

const PAGES = 5
const PAGE = 100

type Entries = Awaited<ReturnType<typeof node.transactions.statement>>["entries"]

const readEntries = async (address: string): Promise<Entries> => {
  const entries: Array<Entries[number]> = []
  let cursor: string | null | undefined
  for (let page = 0; page < PAGES && cursor !== null; page++) {
    const urlParams = cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor }
    const answer = await node.transactions.statement({ path: { address }, urlParams })
    entries.push(...answer.entries)
    cursor = answer.next_cursor
  }
  return entries
}

interface DrawnProps {
  readonly title: string
  readonly window: string
  readonly course: Course
  readonly write: (value: number) => string
  readonly empty: string
}

const Stepped = ({ title, window, course, write, empty }: DrawnProps) =>
  course.values.every((line) => line.every((value) => value === null)) ? (
    <section class="chart">
      <h3>{title}</h3>
      <p class="notice empty">{empty}</p>
    </section>
  ) : (
    <Chart
      {...{ title, window, course, write }}
      lines={[{ name: title, tone: "accent" }]}
      writeShort={title.endsWith("UDG") ? Words.aboutCoins : write}
      isStepped
      fromZero
    />
  )

/** What it lost for two vertices in one round. */
const Slashes = ({ entries }: { readonly entries: Entries }) => (
  <>
    {entries
      .filter(({ kind }) => kind === "stake_slashed")
      .map(({ round, timestamp, amount }) => (
        <div key={round} class="notice failed">
          <p>
            Slashed in round {Words.count(round)} (<When at={timestamp} />
            ): <Amount sats={amount} /> of its stake burned.
          </p>
        </div>
      ))}
  </>
)

const Charts = ({
  address,
  percent,
  read: { openings, entries, commissions },
}: {
  readonly address: Address
  readonly percent: number
  readonly read: Awaited<ReturnType<typeof readAll>>
}) => {
  const stakes = useMemo(() => ValidatorHistory.stakes(address, openings), [address, openings])
  const earned = useMemo(() => ValidatorHistory.earnings(entries), [entries])
  const set = useMemo(() => ValidatorHistory.commissions(commissions, Date.now(), percent), [commissions, percent])
  return (
    <>
      <Slashes entries={entries} />
      <div class="charts">
        <Stepped
          title="Stake with a seat, UDG"
          window={`the last ${EPOCHS} epochs`}
          course={stakes}
          write={Words.coins}
          empty="It had no seat in the last epochs."
        />
        {set.at.length === 1 ? undefined : (
          <Stepped
            title="Commission"
            window="since it was first set"
            course={set}
            write={(value) => `${value} %`}
            empty="Nothing yet."
          />
        )}
        {earned.at.length === 0 ? undefined : (
          <Chart
            title="Earned per day, UDG"
            window="the entries of its statement, by days of UTC"
            course={earned}
            lines={[
              { name: "rewards", tone: "accent" },
              { name: "fees", tone: "second" },
            ]}
            write={Words.coins}
            writeShort={Words.aboutCoins}
            isStacked
            step={ValidatorHistory.DAY_SECONDS}
          />
        )}
      </div>
    </>
  )
}

const readAll = async (account: string) => {
  const [openings, entries, { transactions: commissions }] = await Promise.all([
    readOpenings(),
    readEntries(account),
    node.transactions.history({ path: { address: account }, urlParams: { type: "SetCommissionTx", limit: PAGE } }),
  ])
  return { openings, entries, commissions }
}

/** Epochs and entries are long, and five pages of them take many requests. */
const minute = computed(() => Math.floor(Live.slowBeat.value / 6))

interface Props {
  readonly address: Address
  readonly percent: number
}

/** Stake, commission and earnings over time. */
export const ValidatorPast = ({ address, percent }: Props) => {
  const past = useResource(`validator past ${address}`, () => readAll(address), minute)
  return (
    <Section title="Stake, commission and earnings over time">
      <Loaded of={past} what="its past" lines={8}>
        {(read) => <Charts address={address} percent={percent} read={read} />}
      </Loaded>
    </Section>
  )
}
