import { useState } from "preact/hooks"
import * as Live from "../live/Live.js"
import { type Answer, node } from "../live/Node.js"
import * as PathSegment from "../live/PathSegment.js"
import { useResource } from "../live/Resource.js"
import * as History from "../route/History.js"
import * as Route from "../route/Route.js"
import { Amount } from "../show/Amount.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, LoadedPage, Page, Section } from "../show/Page.js"
import { Pager } from "../show/Pager.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"
import { CheckpointTable } from "./CheckpointTable.js"

type Record = Answer<"checkpoints", "checkpoint">

const Next = ({ epoch }: { readonly epoch: NonNullable<Record["next_epoch"]> }) => (
  <Section
    title="Committee of the epoch that it opens"
    aside={<a href={Route.subject("epoch", epoch.epoch)}>epoch {Words.count(epoch.epoch)}</a>}
  >
    <Table
      caption="Committee of the next epoch"
      rows={epoch.members}
      keyOf={({ address }) => address}
      empty="No members."
      columns={[
        { title: "Member", of: ({ address }) => <Reference.Address address={address} as="validator" /> },
        {
          title: "Weight",

          inCard: "beside",
          sats: ({ weight }) => weight,
        },
      ]}
    />
  </Section>
)

interface ContentProps {
  readonly checkpoint: Record
  /** The time of its commit; null if this node does not have the commit. */
  readonly time: number | null
}

const Content = ({ checkpoint, time }: ContentProps) => (
  <>
    <Facts
      of={[
        ["Hash", <Reference.Text text={checkpoint.hash} what="checkpoint hash" isWhole />],
        ["Round", <Reference.Round round={checkpoint.round} />],
        ["Epoch", <Reference.Epoch epoch={checkpoint.epoch} />],
        ["Kind", checkpoint.next_epoch === null ? "within its epoch" : "closes its epoch"],
        ["Time", time === null ? undefined : <When at={time} />],
        ["Commit", Words.count(checkpoint.commit_index)],
        ["Commit hash", <Reference.Text text={checkpoint.commit_hash} what="commit hash" />],
        ["State root", <Reference.Text text={checkpoint.state_root} what="state root" />],
        ["Effects digest", <Reference.Text text={checkpoint.effects_digest} what="effects digest" />],
        ["Total supply", <Amount sats={checkpoint.total_supply} />],
        ["Previous epoch's closing checkpoint", <Reference.Text text={checkpoint.previous} what="checkpoint hash" />],
      ]}
    />
    <Section title="Signed by" aside={Words.count(checkpoint.signatures.length)}>
      <Table
        caption="Signatures"
        rows={checkpoint.signatures}
        keyOf={({ validator }) => validator}
        empty="No signatures: the genesis needs none."
        columns={[
          { title: "Validator", of: ({ validator }) => <Reference.Address address={validator} as="validator" /> },
          {
            title: "Signature",
            inCard: "beside",
            of: ({ signature }) => <Reference.Text text={signature} what="signature" />,
          },
        ]}
      />
    </Section>
    {checkpoint.next_epoch === null ? undefined : <Next epoch={checkpoint.next_epoch} />}
  </>
)

const LIMIT = 25

const isOfEpochs = (): boolean => new URLSearchParams(location.search).get("closing") === "only"

/** The node's checkpoints; each has a page by its round. */
export const Checkpoints = () => {
  const [isClosing, setIsClosing] = useState(isOfEpochs)
  /** The cursors of all pages up to this one. */
  const [pages, setPages] = useState<ReadonlyArray<string>>([])
  const before = pages.at(-1)
  const listed = useResource(
    `checkpoints ${isClosing} ${before}`,
    () =>
      node.checkpoints.list({
        urlParams: {
          limit: LIMIT,
          ...(before === undefined ? {} : { before: PathSegment.round(before) }),
          ...(isClosing ? { closing: "only" as const } : {}),
        },
      }),
    Live.slowBeat,
  )
  const choose = (only: boolean): void => {
    setPages([])
    setIsClosing(only)
    History.replace(only ? `${Route.place("checkpoints")}?closing=only` : Route.place("checkpoints"))
  }
  return (
    <Page
      title="Checkpoints"
      about="Signed by a quorum of the committee, newest first. If you trust the newest one, you need no older ones. The node keeps closing checkpoints forever, and others as long as it keeps their rounds."
    >
      <form class="filters" aria-label="Filter">
        <label>
          Kind{" "}
          <select
            value={isClosing ? "epochs" : "all"}
            onChange={({ currentTarget }) => choose(currentTarget.value === "epochs")}
          >
            <option value="all">all</option>
            <option value="epochs">those that closed an epoch</option>
          </select>
        </label>
      </form>
      <Loaded of={listed} what="the checkpoints" lines={8}>
        {({ checkpoints, next_round: next }) => (
          <>
            <CheckpointTable
              rows={checkpoints}
              empty={isClosing ? "No epoch has closed yet." : "No checkpoint is signed by a quorum yet."}
            />
            <Pager pages={pages} next={next === null ? null : `${next}`} turnTo={setPages} what="checkpoints" />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** A signed checkpoint has no time; the list has that of its commit. */
const readDated = async (text: string): Promise<ContentProps> => {
  const round = PathSegment.round(text)
  const before = PathSegment.round(`${round + 1}`)
  const [checkpoint, { checkpoints }] = await Promise.all([
    node.checkpoints.checkpoint({ path: { round } }),
    node.checkpoints.list({ urlParams: { limit: 1, before } }),
  ])
  return { checkpoint, time: checkpoints.find((one) => one.round === round)?.timestamp ?? null }
}

export const Checkpoint = ({ round }: { readonly round: string }) => {
  const record = useResource(`checkpoint ${round}`, () => readDated(round), Live.slowBeat)
  return (
    <LoadedPage kind="Checkpoint" title={`of round ${round}`} of={record} what="this checkpoint">
      {(dated) => <Content {...dated} />}
    </LoadedPage>
  )
}
