import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Amount } from "../show/Amount.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, Page, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as Words from "../show/Words.js"

/** A parameter's value with its unit, which follows from its name. */
const figure = (name: string, value: number): string => {
  if (name.endsWith("_percent")) return `${value} %`
  if (name.endsWith("_sats")) return `${Words.coins(value)} UDG`
  return name.endsWith("_rounds") ? Words.counted(value, "round") : Words.count(value)
}

const NetworkFacts = () => {
  const info = Network.network.value
  if (info === undefined) return null
  const { parameters } = info
  return (
    <Facts
      of={[
        ["Network", <span class="mono">{info.network_id}</span>],
        ["Mode", info.mode],
        ["Genesis", <Reference.Text text={info.genesis_hash} what="genesis hash" isWhole />],
        ["Round interval", `${Words.count(parameters.round_interval_ms)} ms`],
        ["Epoch", Words.counted(parameters.epoch_rounds, "round")],
        ["Collection depth", Words.counted(parameters.collection_depth_rounds, "round")],
        ["Reward per round", <Amount sats={parameters.round_reward} />],
        ["Halved every", Words.counted(parameters.halving_rounds, "round")],
        ["Minimum active stake", <Amount sats={parameters.min_stake_sats} />],
        ["Initial commission", `${parameters.default_commission_percent} %`],
        [
          "Faucet pays at most",
          parameters.faucet_max_sats === null ? "no faucet" : <Amount sats={parameters.faucet_max_sats} />,
        ],
        ["Node", info.version],
      ]}
    />
  )
}

export const Parameters = () => {
  const config = useResource("parameters", () => node.governance.config(), Live.slowBeat)
  return (
    <Page title="Parameters" about="Values fixed by the genesis, and values that proposals may change.">
      <Section title="Fixed by genesis">
        <NetworkFacts />
      </Section>
      <Section title="Set by governance">
        <Loaded of={config} what="the parameters" lines={10}>
          {({ governable_params: parameters }) => (
            <Table
              caption="Governable parameters"
              rows={parameters}
              keyOf={({ name }) => name}
              empty="Governance can change nothing."
              columns={[
                { title: "Parameter", of: ({ name }) => <span class="mono">{name}</span> },
                { title: "Now", isFigure: true, of: ({ name, value }) => <b>{figure(name, value)}</b> },
                { title: "Minimum", isFigure: true, isMinor: true, of: ({ name, min }) => figure(name, min) },
                { title: "Maximum", isFigure: true, isMinor: true, of: ({ name, max }) => figure(name, max) },
              ]}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  )
}
