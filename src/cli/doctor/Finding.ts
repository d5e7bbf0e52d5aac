/** The result of one check. */

export interface Finding {
  /** What was checked: `disk`, `clock`, `signed.db`. */
  readonly part: string
  /** A warning can wait. A problem stops or endangers the node. */
  readonly status: "ok" | "warning" | "problem"
  readonly message: string
  /** The page to read, relative to the installation directory. */
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
