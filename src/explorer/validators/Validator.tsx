import * as Live from "../live/Live.js"
import * as Names from "../live/Names.js"
import * as Network from "../live/Network.js"
import { type Answer, node } from "../live/Node.js"
import { both, type Resource, useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Badge } from "../show/Badge.js"
import { Facts, LoadedPage, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Suspended } from "../show/Suspended.js"
import { Table } from "../show/Table.js"
import * as Words from "../show/Words.js"
import { CommissionHistory } from "./CommissionHistory.js"
import { stakeFacts } from "./Stake.js"
import { ValidatorReward } from "./ValidatorReward.js"

const past = () => import("./ValidatorPast.js").then(({ ValidatorPast }) => ValidatorPast)
const uptime = () => import("./ValidatorUptime.js").then(({ ValidatorUptime }) => ValidatorUptime)

type Details = Answer<"staking", "stakeOf">

/** The validator's name or address, whichever the page's address has. */
const titleOf = (stake: Resource<Details>, asked: string): string => {
  if (stake.state !== "ready") return Words.abbreviated(asked)
  const { address } = stake.value
  const name = Names.of(address)
  return name === null ? Words.abbreviated(Network.written(address)) : `@${name}`
}

/** Rounds made out of rounds due, over a day. */
const attendedBy = ({ validators }: Attendance, { address }: Details): Rounds | undefined =>
  validators.find((one) => one.address === address)

type Attendance = Answer<"monitoring", "attendance">

interface Rounds {
  readonly made: number
  readonly missed: number
}

const Uptime = ({ of, since }: { readonly of: Rounds | undefined; readonly since: Attendance["since"] }) => {
  if (of === undefined || since === null) return <span class="quiet">nothing counted yet</span>
  return (
    <>
      {Words.uptime(of)}{" "}
      <span class="quiet">
        over {Words.ofLastDay(since, Date.now())}: {Words.counted(of.missed, "round")} missed of{" "}
        {Words.count(of.made + of.missed)} with a seat
      </span>
    </>
  )
}

const Delegators = ({ list }: { readonly list: Answer<"delegation", "delegators"> }) => (
  <Section
    title="Delegators"
    aside={
      list.delegator_count === 0
        ? undefined
        : `${Words.counted(list.delegator_count, "delegator")}, ${Words.coins(list.total_delegated)} UDG`
    }
  >
    <Table
      caption="Delegators, largest first"
      rows={list.delegators}
      keyOf={({ address }) => address}
      empty="No delegators."
      columns={[
        { title: "Delegator", of: ({ address }) => <Reference.Address address={address} /> },
        {
          title: "Amount",
          inCard: "beside",
          sats: ({ amount }) => amount,
        },
        {
          title: "State",
          inCard: "untitled",
          of: ({ undelegating }) =>
            undelegating ? <Badge tone="waiting">leaving</Badge> : <Badge tone="good">active</Badge>,
        },
      ]}
    />
  </Section>
)

export const Validator = ({ account }: { readonly account: string }) => {
  const path = { address: account }
  const stake = useResource(`stake ${account}`, () => node.staking.stakeOf({ path }))
  const delegators = useResource(`delegators ${account}`, () => node.delegation.delegators({ path }))
  const all = useResource("validators", () => node.staking.validators())
  const attendance = useResource(
    "attendance",
    () => node.monitoring.attendance({ urlParams: { range: "day" } }),
    Live.slowBeat,
  )
  const initial = Network.network.value?.parameters.default_commission_percent
  return (
    <LoadedPage
      kind="Validator"
      title={titleOf(stake, account)}
      of={both(both(stake, delegators), both(all, attendance))}
      what="this validator"
    >
      {([[details, list], [{ validators }, counted]]) => {
        const rounds = attendedBy(counted, details)
        return (
          <>
            <Facts
              of={[
                ["Address", <Reference.Address address={details.address} as="validator" isWhole />],
                ["Account", <a href={Route.subject("address", account)}>balance and history</a>],
                ...stakeFacts(details),
                ["Uptime", <Uptime of={rounds} since={counted.since} />],
              ]}
            />
            {details.is_active_validator ? (
              <p class="buttons">
                <a
                  class="button"
                  href={Route.walletFor({ action: "delegate", validator: Network.written(details.address) })}
                >
                  Delegate to it
                </a>
              </p>
            ) : undefined}
            <div class="columns">
              <ValidatorReward
                stake={details}
                committeeStake={validators
                  .filter(({ in_committee }) => in_committee)
                  .reduce((sum, { effective_stake }) => sum + effective_stake, 0)}
                uptime={rounds === undefined ? undefined : rounds.made / (rounds.made + rounds.missed)}
              />
              <CommissionHistory
                account={account}
                initial={initial === undefined ? "the initial one" : `${initial} %`}
              />
            </div>
            <Suspended load={past} what="its stake, commission and earnings over time">
              {(Content) => <Content address={details.address} percent={details.commission_percent} />}
            </Suspended>
            <Suspended load={uptime} what="the rounds over time">
              {(Content) => <Content account={account} />}
            </Suspended>
            <Delegators list={list} />
          </>
        )
      }}
    </LoadedPage>
  )
}
