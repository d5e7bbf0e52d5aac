import { useState } from "preact/hooks"
import { reasonOf } from "../live/Node.js"
import * as StatementCsv from "./StatementCsv.js"

const save = (name: string, csv: string): void => {
  const url = URL.createObjectURL(new Blob([csv], { type: "text/csv" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** Saves an account's statement as a file. */
export const CsvButton = ({ account }: { readonly account: string }) => {
  const [said, setSaid] = useState("")
  const run = async (): Promise<void> => {
    setSaid("Loading…")
    try {
      const { csv, entries, isCut } = await StatementCsv.download(account)
      save(`udg-${account.replace("@", "")}.csv`, csv)
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
