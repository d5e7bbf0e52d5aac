/**
 * Whether the balance that the node reports follows from what a quorum signed, with a prominent warning if it does not.
 */
import type { ComponentChildren } from "preact"
import { useMemo, useState } from "preact/hooks"
import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Amount } from "../show/Amount.js"
import { Badge, type Tone } from "../show/Badge.js"
import * as Words from "../show/Words.js"
import * as Check from "./Check.js"
import * as Finding from "./Finding.js"
import * as NextRound from "./NextRound.js"
import { Trust } from "./Trust.js"
import * as TrustRoot from "./TrustRoot.js"

const Line = ({
  tone,
  word,
  children,
}: {
  readonly tone: Tone
  readonly word: string
  readonly children: ComponentChildren
}) => (
  <p class="checked" role="status">
    <Badge tone={tone}>{word}</Badge> {children}
  </p>
)

const Signature = ({ round, signers }: Finding.Signed) => (
  <>
    checkpoint{" "}
    <a class="figure" href={Route.subject("checkpoint", round)}>
      {Words.count(round)}
    </a>
    , {signers === null ? "which this browser trusts" : `signed by ${signers.by} of ${signers.of}`}
  </>
)

/** The time until the next checkpoint can prove recent changes. */
const NextCheckpoint = ({ after }: { readonly after: number }) => {
  const every = Network.network.value?.parameters.checkpoint_interval_rounds
  const final = Live.head.value?.finalizedRound
  if (every === undefined || final === undefined) return <>until the next checkpoint;</>
  const ms = Network.millisecondsOf(NextRound.left(after, every, final))
  return ms < 1_000 ? <>next checkpoint any moment;</> : <>next checkpoint in about {Words.duration(ms)};</>
}

const Alarm = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="notice failed alarm" role="alert">
    <p>
      <strong>Do not rely on this balance.</strong> {children}
    </p>
  </div>
)

const Result = ({ claim, finding }: { readonly claim: Finding.Claim; readonly finding: Finding.Finding }) => {
  switch (finding._tag) {
    case "Refused":
      return <Alarm>This node's answer does not hold: {finding.reason}.</Alarm>
    case "OtherNetwork":
      return (
        <Alarm>
          This node claims to belong to another network than the one this browser trusts. If the network was started
          again from a new genesis, trust it again below.
        </Alarm>
      )
    case "Unchecked":
      return (
        <Line tone="waiting" word="not checked">
          {finding.reason}
        </Line>
      )
    case "Proven":
      return Finding.isSame(finding.signed, claim) ? (
        <Line tone="good" word="checked">
          against <Signature {...finding.signed} />
        </Line>
      ) : (
        <Line tone="quiet" word="proof pending">
          <NextCheckpoint after={finding.signed.round} /> <Amount sats={finding.signed.balance} /> at{" "}
          <Signature {...finding.signed} />
        </Line>
      )
  }
}

export const Checked = ({ account, claim }: { readonly account: string; readonly claim: Finding.Claim }) => {
  const watch = useMemo(() => new Check.Watch(account), [account])
  const [attempt, setAttempt] = useState(0)
  const finding = useResource(`check ${account} ${attempt}`, () => watch.run(), Live.slowBeat)
  return (
    <div class="check">
      {finding.state === "ready" ? (
        <Result claim={claim} finding={finding.value} />
      ) : (
        <Line tone="quiet" word="checking">
          against the newest checkpoint
        </Line>
      )}
      <Trust root={TrustRoot.kept()} onChange={() => setAttempt(attempt + 1)} />
    </div>
  )
}
