import * as Moment from "../../client/Moment.js"
import * as Clock from "./Clock.js"
import { None } from "./None.js"
import * as Words from "./Words.js"

/** How long ago, and when. */
export const When = ({ at, isShort = false }: { readonly at: number | null; readonly isShort?: boolean }) =>
  at === null ? (
    <None />
  ) : (
    <time class="when" dateTime={Moment.iso(at)} title={Words.moment(at)}>
      {Words.ago(at, Clock.now.value)}{" "}
      {isShort ? undefined : <span class="quiet moment">{Words.shortMoment(at, Clock.now.value)}</span>}
    </time>
  )
