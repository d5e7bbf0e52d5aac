import * as Live from "../live/Live.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Badge } from "../show/Badge.js"
import { LoadedPage, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"
import { Written } from "../show/Written.js"

/** HOST:PORT of KEY@HOST:PORT. The key has its own column. */
const placeOf = (address: string): string => address.slice(address.indexOf("@") + 1)

export const Peers = () => {
  const record = useResource("peers", () => node.core.peers(), Live.slowBeat)
  return (
    <LoadedPage title="Peers" about="The nodes this one is connected to." of={record} what="the peers">
      {({ peers, bootstrap_nodes: bootstrapNodes }) => (
        <>
          <Section title="Connected" aside={Words.count(peers.length)}>
            <Table
              caption="Connected nodes"
              rows={peers}
              keyOf={({ id }) => id}
              empty="No connections. A network of one validator needs no peers."
              columns={[
                { title: "Node", of: ({ id }) => <Reference.Text text={id} what="node id" /> },
                {
                  title: "Address",
                  inCard: "untitled",
                  of: ({ address }) => <span class="mono">{placeOf(address)}</span>,
                },
                { title: "Direction", inCard: "untitled", of: ({ direction }) => direction },
                { title: "Program", of: ({ agent }) => <Written text={agent} /> },
                {
                  title: "Round trip",
                  isFigure: true,
                  inCard: "beside",
                  of: ({ latency_ms }) => (latency_ms === null ? "–" : `${latency_ms.toFixed(0)} ms`),
                },
                { title: "Connected", of: ({ connected_since }) => <When at={connected_since} /> },
              ]}
            />
          </Section>
          <Section title="Bootstrap nodes">
            <Table
              caption="Nodes this one was configured to connect to"
              rows={bootstrapNodes}
              keyOf={({ address }) => address}
              empty="None are set with --peer."
              columns={[
                { title: "Address", of: ({ address }) => <span class="mono">{address}</span> },
                {
                  title: "State",
                  inCard: "beside",
                  of: ({ connected }) =>
                    connected ? <Badge tone="good">connected</Badge> : <Badge tone="waiting">not connected</Badge>,
                },
              ]}
            />
          </Section>
        </>
      )}
    </LoadedPage>
  )
}
