import * as Live from "../live/Live.js"
import * as Named from "../live/Named.js"
import { type Answer, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Amount, AmountCell } from "../show/Amount.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, Page, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as Words from "../show/Words.js"

type Record = Answer<"checkpoints", "checkpoint">

const Next = ({ epoch }: { readonly epoch: NonNullable<Record["next_epoch"]> }) => (
  <Section title="The epoch that it opens" aside={`epoch ${Words.count(epoch.epoch)}`}>
    <Table
      caption="Committee of the next epoch"
      rows={epoch.members}
      keyOf={({ address }) => address}
      empty="No members."
      columns={[
        { title: "Member", of: ({ address }) => <Reference.Address address={address} as="validator" /> },
        { title: "Weight, UDG", isFigure: true, of: ({ weight }) => <AmountCell sats={weight} /> },
      ]}
    />
  </Section>
)

const Content = ({ checkpoint }: { readonly checkpoint: Record }) => (
  <>
    <Facts
      of={[
        ["Hash", <Reference.Hash hash={checkpoint.hash} what="checkpoint hash" isWhole />],
        ["Round", <Reference.Round round={checkpoint.round} />],
        ["Epoch", Words.count(checkpoint.epoch)],
        ["Kind", checkpoint.next_epoch === null ? "within its epoch" : "closes its epoch"],
        ["Commit", Words.count(checkpoint.commit_index)],
        ["Commit hash", <Reference.Hash hash={checkpoint.commit_hash} what="commit hash" />],
        ["State root", <Reference.Hash hash={checkpoint.state_root} what="state root" />],
        ["Effects digest", <Reference.Hash hash={checkpoint.effects_digest} what="effects digest" />],
        ["Total supply", <Amount sats={checkpoint.total_supply} />],
        ["Closing checkpoint before", <Reference.Hash hash={checkpoint.previous} what="checkpoint hash" />],
      ]}
    />
    <Section title="Signed by" aside={Words.count(checkpoint.signatures.length)}>
      <Table
        caption="Signatures"
        rows={checkpoint.signatures}
        keyOf={({ validator }) => validator}
        empty="Nobody: the genesis needs no signature."
        columns={[
          { title: "Validator", of: ({ validator }) => <Reference.Address address={validator} as="validator" /> },
          { title: "Signature", of: ({ signature }) => <Reference.Hash hash={signature} what="signature" /> },
        ]}
      />
    </Section>
    {checkpoint.next_epoch === null ? undefined : <Next epoch={checkpoint.next_epoch} />}
  </>
)

/** The latest one; those before are reached by their rounds. */
export const Checkpoints = () => {
  const latest = useResource("latest checkpoint", () => node.checkpoints.latest(), Live.slowBeat)
  return (
    <Page
      title="Latest checkpoint"
      about="What a quorum of the committee has signed: whoever trusts the committee needs nothing older."
    >
      <Loaded of={latest} what="the latest checkpoint">
        {(checkpoint) => (
          <>
            <p class="address-of">
              <a href={Route.subject("checkpoint", checkpoint.round)}>Address of this checkpoint</a>
            </p>
            <Content checkpoint={checkpoint} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const read = async (text: string) => {
  const round = Named.round(text)
  return node.checkpoints.checkpoint({ path: { round } })
}

export const Checkpoint = ({ round }: { readonly round: string }) => {
  const record = useResource(`checkpoint ${round}`, () => read(round), Live.never)
  return (
    <Page kind="Checkpoint" title={`of round ${round}`}>
      <Loaded of={record} what="this checkpoint">
        {(checkpoint) => <Content checkpoint={checkpoint} />}
      </Loaded>
    </Page>
  )
}
