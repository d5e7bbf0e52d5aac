import * as Visible from "../../client/Visible.js"

/** Text from the ledger: it cannot change the writing direction around it, and hides no characters. */
export const Written = ({ text }: { readonly text: string }) => <bdi>{Visible.lines(text)}</bdi>
