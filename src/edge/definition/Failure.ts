/**
 * Failures of the HTTP interface, starting with the server's own. A failure is a class: its tag is the `code` on the
 * wire, its message the `error`, and the class has the status. Failures are plain values, not JavaScript errors,
 * because a refusal is a response like any other and needs no stack.
 */
import { HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import * as Definition from "../../effect3/http/Definition.js"
import * as JsonProblem from "../../protocol/encoding/JsonProblem.js"

/** Any failure: an instance of a class whose schema has a status. */
export interface Failure {
  readonly _tag: string
  readonly message: string
}

/**
 * A failure with its code, status and extra fields; then when it is returned, what the caller can do, and after how
 * many seconds a retry makes sense, if that is known in advance.
 */
export const failureWith =
  <const Code extends string, Fields extends Schema.Struct.Fields>(code: Code, status: number, fields: Fields) =>
  (when: string, remedy: string, retryAfter?: number) => {
    const all = {
      _tag: Schema.propertySignature(Schema.Literal(code)).pipe(
        Schema.withConstructorDefault(() => code),
        Schema.fromKey("code"),
      ),
      message: Schema.propertySignature(Schema.String)
        .annotations({ description: "what happened and what was expected, in one line" })
        .pipe(Schema.fromKey("error")),
      ...fields,
    }
    const annotations = {
      identifier: code,
      description: when,
      [HttpApiSchema.AnnotationStatus]: status,
      [Definition.Remedy]: remedy,
      ...(retryAfter === undefined ? {} : { [Definition.RetryAfter]: retryAfter }),
    }
    return Schema.Class<Schema.Struct.Type<typeof all>>(code)(all, [undefined, annotations])
  }

export const failure = <const Code extends string>(code: Code, status: number) => failureWith(code, status, {})

/** A number from the node. Its description is placed where a renamed field beside it cannot hide it. */
export const integer = (about: string) =>
  Schema.Number.annotations({ jsonSchema: { type: "integer", minimum: 0, description: about } })
export const text = (about: string) => Schema.String.annotations({ description: about })
export const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

export class InvalidRequest extends failureWith("InvalidRequest", 400, {
  field: maybe(text("the field that is wrong, as a path such as proposal_type.Text")),
})(
  "The request is not valid HTTP or JSON, or a field, a query parameter or a header has a wrong value.",
  "Correct what `error` and `field` name.",
) {
  static of(problem: JsonProblem.JsonProblem): InvalidRequest {
    return new InvalidRequest({ message: JsonProblem.message(problem), field: problem.field })
  }
}

export class ForeignHost extends failure("ForeignHost", 403)(
  "The node serves only its own machine, and the header `Host` names another.",
  "Use `localhost`, or start the node with `--rpc-name NAME`.",
) {}

export class ForeignOrigin extends failure("ForeignOrigin", 403)(
  "A web page of another origin asks for coins, keys or signatures.",
  "Call from a program, or sign in the page and send the transaction to `/tx/submit`.",
) {}

export class PathNotFound extends failure("PathNotFound", 404)(
  "The node serves nothing at this path.",
  "Look up the path at `/docs`.",
) {}

export class MethodNotAllowed extends failureWith("MethodNotAllowed", 405, { allowed: Schema.Array(Schema.String) })(
  "The path exists, but not with this method.",
  "Use one of the methods in `allowed`.",
) {}

export class RequestTimeout extends failure("RequestTimeout", 408)(
  "The request did not arrive completely in time.",
  "Send the whole request within the time, on a new connection.",
) {}

export class BodyTooLarge extends failureWith("BodyTooLarge", 413, { limit: integer("bytes that a body may have") })(
  "The body is larger than allowed.",
  "Split the request; an array of transactions can be sent in parts.",
) {}

export class UnsupportedMediaType extends failure("UnsupportedMediaType", 415)(
  "The body is not declared as application/json in UTF-8.",
  "Set `content-type: application/json`.",
) {}

export class RateLimited extends failureWith("RateLimited", 429, {
  limit: integer("requests in a window"),
  window_seconds: integer("length of the window"),
  retry_after_seconds: integer("when to ask again, as in Retry-After"),
})("The client sent more requests than its limit allows.", "Wait for `retry_after_seconds`, or run your own node.") {}

export class TooManyStreams extends failureWith("TooManyStreams", 429, {
  limit: integer("event streams that one client may have open"),
  retry_after_seconds: integer("when to ask again, as in Retry-After"),
})(
  "The client has as many open event streams as one client may have.",
  "Close a stream, or let several readers share one.",
) {}

export class HeadersTooLarge extends failure("HeadersTooLarge", 431)(
  "The request line and headers are larger than allowed.",
  "Shorten the query and the headers.",
) {}

export class InternalError extends failure("InternalError", 500)(
  "The node has a bug; its log has the cause.",
  "Report the bug with the log. Repeat a read; look up a transaction by its hash before you send another.",
) {}

export class Overloaded extends failureWith("Overloaded", 503, {
  retry_after_seconds: integer("when to ask again, as in Retry-After"),
})(
  "The node has as many unfinished requests or event streams as it can hold.",
  "Wait for `retry_after_seconds`, then repeat the request.",
) {}

export class Unavailable extends failureWith("Unavailable", 503, {
  retry_after_seconds: integer("when to ask again, as in Retry-After"),
})(
  "A gateway's database or nodes do not answer or have not reached the commit in the header `Udg-Commit`, or a node's disk is slow.",
  "Wait for `retry_after_seconds`, then repeat the request, or ask another node.",
) {}

export class ShuttingDown extends failure("ShuttingDown", 503)(
  "The node is stopping.",
  "Ask another node, or wait until this one is back.",
  5,
) {}

/** On any endpoint. */
export const Anywhere = Schema.Union(
  InvalidRequest,
  ForeignHost,
  RequestTimeout,
  RateLimited,
  HeadersTooLarge,
  InternalError,
  Overloaded,
  Unavailable,
  ShuttingDown,
)

/** On endpoints with a body. */
export const OfBody = Schema.Union(InvalidRequest, RequestTimeout, BodyTooLarge, UnsupportedMediaType, Overloaded)
