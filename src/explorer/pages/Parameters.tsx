import { PARAMETER } from "../../protocol/epoch/ProtocolVersion.js"
import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Amount } from "../show/Amount.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, Page, Section } from "../show/Page.js"
import { figureOf, sentenceOf } from "../show/ParameterWords.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as Words from "../show/Words.js"

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
        ["Epoch", figureOf("epoch_rounds", parameters.epoch_rounds)],
        ["Collection depth", figureOf("collection_depth_rounds", parameters.collection_depth_rounds)],
        ["Reward per round", <Amount sats={parameters.round_reward} />],
        ["Halved every", figureOf("halving_rounds", parameters.halving_rounds)],
        ["Minimum active stake", <Amount sats={parameters.min_stake_sats} />],
        ["Initial commission", `${parameters.default_commission_percent} %`],
        [
          "Faucet pays at most",
          parameters.faucet_max_sats === null ? "no faucet" : <Amount sats={parameters.faucet_max_sats} />,
        ],
      ]}
    />
  )
}

/** Can break after an underscore. */
const Name = ({ of }: { readonly of: string }) => (
  <span class="mono">{of.split("_").map((part, i) => (i === 0 ? part : ["_", <wbr key={part} />, part]))}</span>
)

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
              empty="Governance cannot change any value."
              columns={[
                {
                  title: "Parameter",
                  of: ({ name }) => (
                    <div class="explained">
                      <Name of={name} />
                      <small class="quiet">{sentenceOf(name)}</small>
                    </div>
                  ),
                },
                { title: "Now", isFigure: true, of: ({ name, value }) => <b>{figureOf(name, value)}</b> },
                {
                  title: "Minimum",
                  isFigure: true,
                  of: ({ name, min }) => (name === PARAMETER ? "–" : figureOf(name, min)),
                },
                {
                  title: "Maximum",
                  isFigure: true,
                  of: ({ name, max }) => (name === PARAMETER ? `next ${max}` : figureOf(name, max)),
                },
              ]}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  )
}
