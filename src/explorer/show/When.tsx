import * as Clock from "./Clock.js"
import * as Words from "./Words.js"

/** How long ago; the moment itself on hovering. */
export const When = ({ at }: { readonly at: number | null }) =>
  at === null ? (
    <span class="quiet">–</span>
  ) : (
    <time dateTime={new Date(at).toISOString()} title={Words.moment(at)}>
      {Words.ago(at, Clock.now.value)}
    </time>
  )
