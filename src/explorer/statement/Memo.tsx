import * as Visible from "../../client/Visible.js"
import { None } from "../show/None.js"

/** A transfer's memo on one line, complete in the tooltip. */
export const Memo = ({ text }: { readonly text: string | null }) =>
  text === null || text === "" ? (
    <None />
  ) : (
    <bdi class="memo-cell" title={Visible.lines(text)}>
      {Visible.line(text)}
    </bdi>
  )
