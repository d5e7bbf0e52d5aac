import * as Clock from "./Clock.js"
import { None } from "./None.js"
import * as Words from "./Words.js"

/** How long ago, with the moment itself in the tooltip. */
export const When = ({ at }: { readonly at: number | null }) =>
  at === null ? (
    <None />
  ) : (
    <time dateTime={new Date(at).toISOString()} title={Words.moment(at)}>
      {Words.ago(at, Clock.now.value)}
    </time>
  )
