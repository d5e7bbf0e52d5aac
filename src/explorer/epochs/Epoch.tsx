import * as Natural from "../../protocol/numbers/Natural.js"
import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import { type Answer, isMissing, node } from "../live/Node.js"
import * as PathSegment from "../live/PathSegment.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Amount } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import { Facts, LoadedPage, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"
import { CheckpointTable } from "./CheckpointTable.js"

type Record = Answer<"checkpoints", "checkpoint">
type Listed = Answer<"checkpoints", "list">["checkpoints"][number]
type Opened = NonNullable<Record["next_epoch"]>

interface Epoch {
  readonly number: number
  /** The checkpoint that closed the previous epoch. The genesis opens the first epoch, so it has none. */
  readonly opening: Record | undefined
  /** Undefined while the epoch runs. */
  readonly closing: Record | undefined
  /** Newest first, up to one page; the opening one is last. */
  readonly listed: ReadonlyArray<Listed>
  readonly hasMore: boolean
  /** The previous epoch's committee. */
  readonly before: Opened | undefined
}

const MOST = 100

/** The genesis, not a checkpoint, opens the first epoch. */
const FIRST = 1

const closingOf = (epoch: number): Promise<Record> =>
  node.checkpoints.closing({ path: { epoch: Natural.epoch(epoch) } })

const orNone = (found: Promise<Record>): Promise<Record | undefined> =>
  found.catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })

const read = async (text: string): Promise<Epoch> => {
  const number = PathSegment.epoch(text)
  const [opening, closing, previous] = await Promise.all([
    number === FIRST ? undefined : closingOf(number - 1),
    orNone(closingOf(number)),
    number <= FIRST + 1 ? undefined : orNone(closingOf(number - 2)),
  ])
  const before = closing === undefined ? {} : { before: PathSegment.round(`${closing.round + 1}`) }
  const { checkpoints, next_round: next } = await node.checkpoints.list({ urlParams: { limit: MOST, ...before } })
  const from = opening?.round ?? 0
  return {
    ...{ number, opening, closing },
    listed: checkpoints.filter(({ round }) => round >= from),
    hasMore: next !== null && next > from,
    before: previous?.next_epoch ?? undefined,
  }
}

const Neighbours = ({ number, isRunning }: { readonly number: number; readonly isRunning: boolean }) => (
  <nav class="neighbours" aria-label="Neighbouring epochs">
    {number === FIRST ? undefined : <a href={Route.subject("epoch", number - 1)}>← {Words.count(number - 1)}</a>}
    {isRunning ? undefined : <a href={Route.subject("epoch", number + 1)}>{Words.count(number + 1)} →</a>}
  </nav>
)

/** An epoch ends with the first commit at or after its nominal last round. */
const Left = ({ last }: { readonly last: number }) => {
  const finalized = Live.head.value?.finalizedRound
  if (finalized === undefined) return null
  return <span class="quiet">in about {Words.duration(Network.millisecondsOf(Math.max(0, last - finalized)))}</span>
}

const Checkpoint = ({ of }: { readonly of: Record | undefined }) =>
  of === undefined ? (
    <span class="quiet">the genesis</span>
  ) : (
    <a href={Route.subject("checkpoint", of.round)}>checkpoint of round {Words.count(of.round)}</a>
  )

const Created = ({ opening, closing }: { readonly opening: Record; readonly closing: Record }) => {
  const change = closing.total_supply - opening.total_supply
  return (
    <>
      {change < 0 ? "−" : "+"}
      <Amount sats={Math.abs(change)} />
    </>
  )
}

const factsOf = ({ number, opening, closing, listed }: Epoch) => {
  const rules = opening?.next_epoch?.rules
  const first = opening === undefined ? FIRST : opening.next_epoch?.first_round
  const length = rules?.epoch_rounds ?? Network.network.value?.parameters.epoch_rounds
  const last = first === undefined || length === undefined ? undefined : first + length - 1
  const timeOf = (record: Record | undefined) =>
    record === undefined ? undefined : listed.find(({ round }) => round === record.round)?.timestamp
  const began = timeOf(opening)
  return [
    ["State", closing === undefined ? <Badge tone="waiting">running</Badge> : <Badge tone="good">closed</Badge>],
    ["First round", first === undefined ? undefined : <Reference.Round round={first} />],
    ["Last round", closing === undefined ? undefined : <Reference.Round round={closing.round} />],
    [
      "Nominal last round",
      last === undefined ? undefined : (
        <>
          {Words.count(last)} {closing === undefined ? <Left last={last} /> : undefined}
        </>
      ),
    ],
    ["Opened by", <Checkpoint of={opening} />],
    ["Closed by", closing === undefined ? undefined : <Checkpoint of={closing} />],
    ["Began", began === undefined ? undefined : <When at={began} />],
    ["Ended", closing === undefined ? undefined : <When at={timeOf(closing) ?? null} />],
    ["Supply at the end", closing === undefined ? undefined : <Amount sats={closing.total_supply} />],
    [
      "Change of the supply",
      opening === undefined || closing === undefined ? undefined : <Created {...{ opening, closing }} />,
    ],
    [
      "Reward per round",
      rules === undefined ? undefined : (
        <>
          <Amount sats={rules.round_reward} /> <span class="quiet">before halvings</span>
        </>
      ),
    ],
    ["Neighbours", <Neighbours number={number} isRunning={closing === undefined} />],
  ] as const
}

const Committee = ({ of, before }: { readonly of: Opened; readonly before: Opened | undefined }) => {
  const total = of.members.reduce((sum, { weight }) => sum + weight, 0)
  const known = before && new Map(before.members.map(({ address, weight }) => [address, weight] as const))
  const gone = (before?.members ?? []).filter(({ address }) => !of.members.some((now) => now.address === address))
  return (
    <Section title="Committee" aside={Words.counted(of.members.length, "member")}>
      <Table
        caption="Committee of the epoch"
        rows={of.members}
        keyOf={({ address }) => address}
        empty="No members."
        columns={[
          { title: "Validator", of: ({ address }) => <Reference.Address address={address} as="validator" /> },
          { title: "Weight", inCard: "beside", sats: ({ weight }) => weight },
          { title: "Share", isFigure: true, of: ({ weight }) => Words.percent(weight / total) },
          ...(known === undefined
            ? []
            : [
                {
                  title: "Change",
                  isChange: true,
                  sats: ({ address, weight }: Opened["members"][number]) => weight - (known.get(address) ?? 0),
                },
              ]),
        ]}
      />
      {gone.length === 0 ? undefined : (
        <p class="summary">
          Lost their seat:{" "}
          {gone.map(({ address }) => (
            <Reference.Address key={address} address={address} as="validator" />
          ))}
        </p>
      )}
    </Section>
  )
}

const Content = ({ epoch }: { readonly epoch: Epoch }) => {
  const own = epoch.listed.filter((one) => one.epoch === epoch.number)
  return (
    <>
      <Facts of={factsOf(epoch)} />
      {epoch.opening?.next_epoch ? (
        <Committee of={epoch.opening.next_epoch} before={epoch.before} />
      ) : (
        <Section title="Committee">
          <p class="notice empty">The genesis names the committee of the first epoch.</p>
        </Section>
      )}
      <Section
        title="Checkpoints"
        aside={epoch.hasMore ? `the newest ${own.length}` : Words.counted(own.length, "checkpoint")}
      >
        <CheckpointTable
          rows={own}
          empty="This node has no checkpoint of the epoch: none is signed by a quorum yet, or it has pruned them."
        />
      </Section>
    </>
  )
}

export const Epoch = ({ number }: { readonly number: string }) => {
  const epoch = useResource(`epoch ${number}`, () => read(number), Live.slowBeat)
  const title = /^\d+$/.test(number) ? Words.count(Number(number)) : number
  return (
    <LoadedPage kind="Epoch" title={title} of={epoch} what="this epoch">
      {(found) => <Content epoch={found} />}
    </LoadedPage>
  )
}
