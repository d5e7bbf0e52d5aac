/**
 * The whole HTTP interface as definitions, from which the server, the typed client and the OpenAPI document are
 * derived.
 */
import { OpenApi } from "@effect/platform"
import * as Definition from "../../effect3/http/Definition.js"
import * as Archive from "./Archive.js"
import * as Checkpoints from "./Checkpoints.js"
import * as Core from "./Core.js"
import * as Dag from "./Dag.js"
import * as Delegation from "./Delegation.js"
import * as Documents from "./Documents.js"
import * as Events from "./Events.js"
import * as Failure from "./Failure.js"
import * as Governance from "./Governance.js"
import * as Monitoring from "./Monitoring.js"
import * as Staking from "./Staking.js"
import * as Transactions from "./Transactions.js"

export const Api = Definition.empty("udg")
  .annotate(OpenApi.Title, "udg node")
  .annotate(
    OpenApi.Description,
    "JSON over HTTP. Amounts are integers in sats (1 coin = 100,000,000 sats); fields that end in `_coin` carry the " +
      "same amount in coins. Errors are `{code, error}` plus fields with details. Unknown body fields and query parameters are rejected. " +
      "All endpoints share a limit of 1,000 requests per minute and client; some have their own limit.",
  )
  .annotate(OpenApi.License, { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" })
  .addError(Failure.Anywhere)
  .add(Core.group)
  .add(Transactions.group)
  .add(Archive.group)
  .add(Staking.group)
  .add(Delegation.group)
  .add(Governance.group)
  .add(Dag.group)
  .add(Checkpoints.group)
  .add(Monitoring.group)
  .add(Events.group)
  .add(Documents.group)
