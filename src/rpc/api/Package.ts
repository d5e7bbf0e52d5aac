/** What `import … from "udg-node/api"` gives: the definition of the interface, and the failures and events in it. */
export { Api } from "./Api.js"
export { Event } from "./Events.js"
export * as Failure from "./Failure.js"
