/** What stands against a field, as the answer to whoever sent it. */
import type { JsonProblem } from "../protocol/JsonProblem.js"
import * as Failure from "./failure/Api.js"

export const toInvalidRequest = ({ field, reason }: JsonProblem): Failure.InvalidRequest =>
  new Failure.InvalidRequest({ message: `${field}: ${reason}`, field })
