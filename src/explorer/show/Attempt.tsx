/** Something a person asked for that takes a moment and may be refused with a sentence. */
import { useState } from "preact/hooks"

export interface Attempt {
  readonly isBusy: boolean
  readonly complaint: string | undefined
  readonly attempt: (step: () => Promise<void>) => Promise<void>
}

export const useAttempt = (explain: (error: unknown) => string): Attempt => {
  const [isBusy, setIsBusy] = useState(false)
  const [complaint, setComplaint] = useState<string | undefined>(undefined)
  const attempt = async (step: () => Promise<void>): Promise<void> => {
    setIsBusy(true)
    setComplaint(undefined)
    try {
      await step()
    } catch (error) {
      setComplaint(explain(error))
    }
    setIsBusy(false)
  }
  return { isBusy, complaint, attempt }
}

export const Complaint = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? null : (
    <p class="complaint" role="alert">
      {text}
    </p>
  )
