/** Checks free disk space. */
import type { Finding } from "./Finding.js"
import * as Found from "./Finding.js"

const MEBIBYTE = 1_048_576
/** A node ends when it has no room for a commit. docs/operations.md states this figure. */
const LEAST_BYTES = 64 * MEBIBYTE
const COMFORTABLE_BYTES = 2_048 * MEBIBYTE
const PAGE = "docs/operations/alerts.md#udgdiskfull"

export const finding = (freeBytes: number, databaseBytes: number): Finding => {
  const said = `${Math.floor(freeBytes / MEBIBYTE)} MiB are free; the databases take ${Math.ceil(databaseBytes / MEBIBYTE)} MiB`
  if (freeBytes < LEAST_BYTES) return Found.problem("disk", `${said}; make room, at least 64 MiB`, PAGE)
  return freeBytes < COMFORTABLE_BYTES ? Found.warning("disk", said, PAGE) : Found.ok("disk", said)
}
