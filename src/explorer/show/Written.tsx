import * as Visible from "../../client/Visible.js"

/** Text from the ledger. It cannot change the surrounding writing direction or hide characters. */
export const Written = ({ text }: { readonly text: string }) => <bdi>{Visible.lines(text)}</bdi>
