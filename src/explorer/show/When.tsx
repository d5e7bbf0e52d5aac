import * as Moment from "../../client/Moment.js"
import * as Clock from "./Clock.js"
import { None } from "./None.js"
import * as Words from "./Words.js"

/** How long ago, and when. */
export const When = ({ at }: { readonly at: number | null }) =>
  at === null ? (
    <None />
  ) : (
    <time class="when" dateTime={Moment.iso(at)} title={Words.moment(at)}>
      {Words.ago(at, Clock.now.value)} <span class="quiet moment">{Words.shortMoment(at, Clock.now.value)}</span>
    </time>
  )
