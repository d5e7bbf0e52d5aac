import { useEffect, useRef } from "preact/hooks"
import * as Health from "./live/Health.js"
import * as Live from "./live/Live.js"
import * as Network from "./live/Network.js"
import * as History from "./route/History.js"
import * as Route from "./route/Route.js"
import { SearchBox } from "./search/SearchBox.js"
import { Account } from "./show/Account.js"
import { Boundary } from "./show/Boundary.js"
import { Icon } from "./show/Icon.js"
import * as Theme from "./show/Theme.js"
import * as Words from "./show/Words.js"
import { View } from "./View.js"

const links: ReadonlyArray<readonly [name: string, href: string, covers: ReadonlyArray<Route.Route["page"]>]> = [
  ["Overview", Route.overview, ["overview"]],
  ["Wallet", Route.place("wallet"), ["wallet"]],
  ["DAG", Route.place("dag"), ["dag", "round", "vertex"]],
  ["Transactions", Route.place("transactions"), ["transactions", "tx"]],
  ["Charts", Route.place("charts"), ["charts"]],
  ["Accounts", Route.place("accounts"), ["accounts"]],
  ["Validators", Route.place("validators"), ["validators", "validator"]],
  ["Proposals", Route.place("proposals"), ["proposals", "proposal"]],
  ["Mempool", Route.place("mempool"), ["mempool"]],
  ["Checkpoints", Route.place("checkpoints"), ["checkpoints", "checkpoint", "epoch"]],
  ["Peers", Route.place("peers"), ["peers"]],
  ["Parameters", Route.place("parameters"), ["parameters"]],
]

/** Needs an archive. */
const ARCHIVED = Route.place("accounts")

const Brand = () => (
  <a class="brand" href={Route.overview} aria-label="udg explorer, overview">
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <path d="M7 8 25 16M7 24 25 16M7 8v16" />
      <circle cx="7" cy="8" r="4" />
      <circle cx="7" cy="24" r="4" />
      <circle class="leading" cx="25" cy="16" r="5.5" />
    </svg>
    <span>udg</span>
  </a>
)

const PULSES = {
  connecting: "connecting",
  live: "live",
  behind: "behind",
  halted: "halted",
  lost: "node not answering",
} as const

const Pulse = () => {
  const head = Live.head.value
  // A gateway's archive that pauses is behind; the network may go on.
  const isBehind = Health.isBehind.value && (Live.connection.value === "live" || Live.connection.value === "halted")
  const state = isBehind ? "behind" : Live.connection.value
  const words = PULSES[state]
  return (
    <div class={`pulse ${state}`}>
      <span class="dot" aria-hidden="true" />
      <span role="status">{words}</span>
      {head === undefined ? undefined : (
        <span class="round" title="highest round, and how many rounds the last finalized one lags behind">
          <b class="figure">{Words.count(head.round)}</b>{" "}
          <small>lag {Health.archiveLag.value ?? head.round - head.finalizedRound}</small>
        </span>
      )}
    </div>
  )
}

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const

const ThemeButton = () => {
  const label = `Colours: ${Theme.theme.value}. Change`
  return (
    <button type="button" class="icon-button" onClick={Theme.next} aria-label={label} title={label}>
      <Icon name={themeIcons[Theme.theme.value]} />
    </button>
  )
}

const Navigation = () => {
  const { page } = History.route.value
  const hasArchive = Network.network.value?.has_archive === true
  const places = useRef<HTMLElement>(null)
  // On a phone the tabs are wider than the screen, so the active one is centred, also when it appears late.
  useEffect(() => {
    const active = places.current?.querySelector("[aria-current]")
    if (places.current === null || !(active instanceof HTMLElement)) return
    places.current.scrollLeft = active.offsetLeft - (places.current.clientWidth - active.offsetWidth) / 2
  }, [page, hasArchive])
  return (
    <nav class="places" aria-label="Pages" ref={places}>
      {links
        .filter(([, href]) => hasArchive || href !== ARCHIVED)
        .map(([name, href, covers]) => (
          <a key={href} href={href} aria-current={covers.includes(page) ? "page" : undefined}>
            {name}
          </a>
        ))}
    </nav>
  )
}

/** Tells why nothing on the page moves, and how old it is. */
const Standstill = () => {
  const since = Live.standstill.value
  if (since === undefined) return null
  const moment = `${Words.timeOfDay(since)}${Live.sawLastMove() ? "" : ", when this page was opened"}`
  return Live.connection.value === "lost" ? (
    <p class="unhealthy standstill">The node has not answered since {moment}. What this page shows is from then.</p>
  ) : (
    <p class="unhealthy standstill">No round has become final since {moment}. What this page shows is from then.</p>
  )
}

const Outdated = () =>
  Network.isOutdated.value ? (
    <p class="degraded">
      The node now runs another version, which this page may not understand.{" "}
      <button type="button" class="button" onClick={() => location.reload()}>
        Reload
      </button>
    </p>
  ) : null

/** Writes addresses in a reason as everywhere else. */
const Reason = ({ text }: { readonly text: string }) => (
  <>{text.split(/\b([0-9a-f]{40})\b/).map((part, i) => (i % 2 === 0 ? part : <Account key={part} account={part} />))}</>
)

/** The node's current problems. */
const Problems = () => {
  return (
    <div class="problems" role="status">
      <Standstill />
      <Outdated />
      {Live.connection.value === "lost"
        ? undefined
        : Health.lasting.value.map(({ component, status, reason, since }) => (
            <p key={component} class={status}>
              <b>{component}</b> <Reason text={reason} />, since {Words.shortMoment(since, Date.now())}
            </p>
          ))}
    </div>
  )
}

const Footer = () => {
  const info = Network.network.value
  return (
    <footer class="foot">
      {info === undefined ? undefined : (
        <p>
          <span class={`mode ${info.mode}`}>{info.mode}</span> <span class="mono">{info.network_id}</span> · node{" "}
          {info.version}
        </p>
      )}
      <p>
        <a href="/docs">API reference</a> <a href="/openapi.json">OpenAPI</a> <a href="/metrics">Metrics</a>
      </p>
    </footer>
  )
}

/** The frame of the screen; the path selects the page inside it. */
export const App = () => (
  <>
    <a class="skip" href="#content">
      Skip to content
    </a>
    <header class="top">
      <div class="row">
        <Brand />
        <Boundary what="the search">
          <SearchBox />
        </Boundary>
        <Boundary what="the state of the connection">
          <Pulse />
        </Boundary>
        <ThemeButton />
      </div>
      <Boundary what="the menu">
        <Navigation />
      </Boundary>
    </header>
    <main id="content" class={Live.standstill.value === undefined ? "" : "halted"}>
      <Boundary what="the node's problems">
        <Problems />
      </Boundary>
      <Boundary what="this page" of={History.route.value}>
        <View key={History.visit.value} route={History.route.value} />
      </Boundary>
    </main>
    <Boundary what="the name of the network">
      <Footer />
    </Boundary>
  </>
)
