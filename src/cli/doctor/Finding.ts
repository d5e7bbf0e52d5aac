/** What one check found. */

export interface Finding {
  /** What was looked at: `disk`, `clock`, `signed.db`. */
  readonly part: string
  /** A warning can wait; a problem keeps the node from doing its work, or endangers it. */
  readonly status: "ok" | "warning" | "problem"
  readonly message: string
  /** What to read, below the directory in which the program is installed. */
  readonly page?: string
}

const made =
  (status: Finding["status"]) =>
  (part: string, message: string, page?: string): Finding => ({
    part,
    status,
    message,
    ...(page === undefined ? {} : { page }),
  })

export const ok = made("ok")
export const warning = made("warning")
export const problem = made("problem")
