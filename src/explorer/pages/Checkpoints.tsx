import * as Live from "../live/Live.js"
import * as Named from "../live/Named.js"
import { type Answer, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Amount } from "../show/Amount.js"
import { Facts, LoadedPage, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as Words from "../show/Words.js"

type Record = Answer<"checkpoints", "checkpoint">

const Next = ({ epoch }: { readonly epoch: NonNullable<Record["next_epoch"]> }) => (
  <Section title="The epoch it opens" aside={`epoch ${Words.count(epoch.epoch)}`}>
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

const Content = ({ checkpoint }: { readonly checkpoint: Record }) => (
  <>
    <Facts
      of={[
        ["Hash", <Reference.Text text={checkpoint.hash} what="checkpoint hash" isWhole />],
        ["Round", <Reference.Round round={checkpoint.round} />],
        ["Epoch", Words.count(checkpoint.epoch)],
        ["Kind", checkpoint.next_epoch === null ? "within its epoch" : "closes its epoch"],
        ["Commit", Words.count(checkpoint.commit_index)],
        ["Commit hash", <Reference.Text text={checkpoint.commit_hash} what="commit hash" />],
        ["State root", <Reference.Text text={checkpoint.state_root} what="state root" />],
        ["Effects digest", <Reference.Text text={checkpoint.effects_digest} what="effects digest" />],
        ["Total supply", <Amount sats={checkpoint.total_supply} />],
        ["Closing checkpoint before", <Reference.Text text={checkpoint.previous} what="checkpoint hash" />],
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

/** The latest checkpoint; earlier ones have pages by their rounds. */
export const Checkpoints = () => (
  <LoadedPage
    title="Latest checkpoint"
    about="Signed by a quorum of the committee. If you trust the committee, you need nothing older."
    of={useResource("latest checkpoint", () => node.checkpoints.latest(), Live.slowBeat)}
    what="the latest checkpoint"
  >
    {(checkpoint) => (
      <>
        <p class="address-of">
          <a href={Route.subject("checkpoint", checkpoint.round)}>Permanent link to this checkpoint</a>
        </p>
        <Content checkpoint={checkpoint} />
      </>
    )}
  </LoadedPage>
)

export const Checkpoint = ({ round }: { readonly round: string }) => {
  const read = async () => node.checkpoints.checkpoint({ path: { round: Named.round(round) } })
  const record = useResource(`checkpoint ${round}`, read, Live.never)
  return (
    <LoadedPage kind="Checkpoint" title={`of round ${round}`} of={record} what="this checkpoint">
      {(checkpoint) => <Content checkpoint={checkpoint} />}
    </LoadedPage>
  )
}
