/** An action that takes a moment and can be refused with a reason. */
import { useRef, useState } from "preact/hooks"

export interface Attempt {
  /**
   * A second attempt during the first one has no effect. Buttons use `aria-disabled`, because `disabled` loses the
   * focus.
   */
  readonly isBusy: boolean
  readonly complaint: string | undefined
  readonly attempt: (step: () => Promise<void>) => Promise<void>
}

export const useAttempt = (explain: (error: unknown) => string): Attempt => {
  const [isBusy, setIsBusy] = useState(false)
  const [complaint, setComplaint] = useState<string | undefined>(undefined)
  const isRunning = useRef(false)
  const attempt = async (step: () => Promise<void>): Promise<void> => {
    if (isRunning.current) return
    isRunning.current = true
    setIsBusy(true)
    setComplaint(undefined)
    try {
      await step()
    } catch (error) {
      setComplaint(explain(error))
    }
    isRunning.current = false
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
