/** The exports of `udg-node/api`: the definition of the interface, with its failures and events. */
export { Api } from "./Api.js"
export { Event } from "./Events.js"
export * as Failure from "./Failure.js"
