import * as Sats from "../../protocol/numbers/Sats.js"
import * as Live from "../live/Live.js"
import { node } from "../live/Node.js"
import { both, useResource } from "../live/Resource.js"
import { Bar } from "../show/Bar.js"
import { None } from "../show/None.js"
import { LoadedPage } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as Words from "../show/Words.js"
import { ValidatorRole } from "./Stake.js"

/** Below this, delegators lose enough to choose another validator. */
const LOW = 0.95

const Uptime = ({ of }: { readonly of: { readonly made: number; readonly missed: number } }) => (
  <span class={of.made < LOW * (of.made + of.missed) ? "complaint" : ""}>{Words.uptime(of)}</span>
)

export const Validators = () => (
  <LoadedPage
    title="Validators"
    about="All accounts with a stake, largest first. The committee makes the vertices of this epoch; active validators can join the next one."
    of={both(
      useResource("validators", () => node.staking.validators()),
      useResource("attendance", () => node.monitoring.attendance({ urlParams: { range: "day" } }), Live.slowBeat),
    )}
    what="the validators"
    lines={8}
  >
    {([{ validators, total_staked: total, active_count: active, max_validators: seats }, attendance]) => (
      <>
        <p class="summary">
          <b>{Words.counted(active, "active validator")}</b> of {seats} seats,{" "}
          <b>{Words.count(total / Sats.SATS_PER_COIN)} UDG</b> at stake
        </p>
        <Table
          caption="Validators"
          rows={validators}
          keyOf={({ address }) => address}
          empty="No account has a stake."
          columns={[
            { title: "Validator", of: ({ address }) => <Reference.Address address={address} as="validator" /> },
            {
              title: "Role",
              inCard: "untitled",
              of: ({ in_committee, is_active }) => <ValidatorRole isMember={in_committee} isActive={is_active} />,
            },
            {
              title: "Effective stake",
              inCard: "beside",
              sats: ({ effective_stake }) => effective_stake,
            },
            {
              title: "Share",
              isFigure: true,
              of: ({ effective_stake }) => (
                <span class="share">
                  <Bar
                    label="Share of all stake"
                    total={total}
                    parts={[{ name: "share", amount: effective_stake, tone: "first" }]}
                  />
                  <span class="figure">{Words.percent(total === 0 ? 0 : effective_stake / total)}</span>
                </span>
              ),
            },
            {
              title: `Uptime (${attendance.since === null ? "24 h" : Words.ofLastDay(attendance.since, Date.now())})`,
              isFigure: true,
              of: ({ address }) => {
                const rounds = attendance.validators.find((one) => one.address === address)
                return rounds === undefined ? <None /> : <Uptime of={rounds} />
              },
            },
            { title: "Commission", isFigure: true, of: ({ commission_percent }) => `${commission_percent} %` },
            { title: "Delegators", isFigure: true, of: ({ delegator_count }) => Words.count(delegator_count) },
          ]}
        />
      </>
    )}
  </LoadedPage>
)
