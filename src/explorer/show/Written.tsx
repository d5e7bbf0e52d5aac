import * as Visible from "../../client/Visible.js"

/** What somebody wrote into the ledger: it cannot turn around what stands beside it, and hides nothing. */
export const Written = ({ text }: { readonly text: string }) => <bdi>{Visible.lines(text)}</bdi>
