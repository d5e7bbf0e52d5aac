/** The problem of a field as the answer to its sender. */
import * as JsonProblem from "../../protocol/encoding/JsonProblem.js"
import * as Failure from "../api/Failure.js"

export const toInvalidRequest = (problem: JsonProblem.JsonProblem): Failure.InvalidRequest =>
  new Failure.InvalidRequest({ message: JsonProblem.message(problem), field: problem.field })
