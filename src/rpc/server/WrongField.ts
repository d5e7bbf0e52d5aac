/** The problem of a field as the answer to its sender. */
import type { JsonProblem } from "../../protocol/encoding/JsonProblem.js"
import * as Failure from "../api/Failure.js"

export const toInvalidRequest = ({ field, reason }: JsonProblem): Failure.InvalidRequest =>
  new Failure.InvalidRequest({ message: `${field}: ${reason}`, field })
