import * as Visible from "../../client/Visible.js"
import { None } from "../show/None.js"

/** What the sender of a transfer wrote, on one line of a list; all of it in the tooltip. */
export const Memo = ({ text }: { readonly text: string | null }) =>
  text === null || text === "" ? (
    <None />
  ) : (
    <bdi class="memo-cell" title={Visible.lines(text)}>
      {Visible.line(text)}
    </bdi>
  )
