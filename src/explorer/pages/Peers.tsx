import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Badge } from "../show/Badge.js"
import { Copy } from "../show/Copy.js"
import { Loaded } from "../show/Loaded.js"
import { Page, Section } from "../show/Page.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"
import { Written } from "../show/Written.js"

export const Peers = () => {
  const record = useResource("peers", () => node.core.peers())
  return (
    <Page title="Peers" about="The nodes that this one is connected to.">
      <Loaded of={record} what="the peers">
        {({ peers, bootstrap_nodes: bootstrapNodes }) => (
          <>
            <Section title="Connected" aside={Words.count(peers.length)}>
              <Table
                caption="Connected nodes"
                rows={peers}
                keyOf={({ id }) => id}
                empty="Connected to nobody. A network of one validator needs no peers."
                columns={[
                  {
                    title: "Node",
                    of: ({ id }) => (
                      <span class="reference">
                        <span class="mono" title={id}>
                          {Words.abbreviated(id)}
                        </span>
                        <Copy text={id} what="node id" />
                      </span>
                    ),
                  },
                  { title: "Address", of: ({ address }) => <span class="mono">{address}</span> },
                  { title: "Direction", isMinor: true, of: ({ direction }) => direction },
                  { title: "Program", isMinor: true, of: ({ agent }) => <Written text={agent} /> },
                  {
                    title: "Round trip",
                    isFigure: true,
                    of: ({ latency_ms }) => (latency_ms === null ? "–" : `${latency_ms.toFixed(1)} ms`),
                  },
                  { title: "Connected", of: ({ connected_since }) => <When at={connected_since} /> },
                ]}
              />
            </Section>
            <Section title="Bootstrap nodes">
              <Table
                caption="Nodes that this one was told to connect to"
                rows={bootstrapNodes}
                keyOf={({ address }) => address}
                empty="None were given with --peer."
                columns={[
                  { title: "Address", of: ({ address }) => <span class="mono">{address}</span> },
                  {
                    title: "State",
                    of: ({ connected }) =>
                      connected ? <Badge tone="good">connected</Badge> : <Badge tone="waiting">not connected</Badge>,
                  },
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
