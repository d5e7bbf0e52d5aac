import { useState } from "preact/hooks"
import { reasonOf } from "../live/Node.js"
import * as Download from "./Download.js"
import * as StatementCsv from "./StatementCsv.js"

/** Saves an account's statement as a file. */
export const CsvButton = ({ account }: { readonly account: string }) => {
  const [said, setSaid] = useState("")
  const run = async (): Promise<void> => {
    setSaid("Loading…")
    try {
      const { csv, entries, isCut } = await StatementCsv.download(account)
      Download.as(`udg-${account.replace("@", "")}.csv`, csv, "text/csv")
      setSaid(isCut ? `The newest ${entries} entries` : `All ${entries} entries`)
    } catch (error) {
      setSaid(reasonOf(error))
    }
  }
  return (
    <span class="export">
      <span role="status">{said}</span>
      <button type="button" class="button small" onClick={() => void run()}>
        Save as CSV
      </button>
    </span>
  )
}
