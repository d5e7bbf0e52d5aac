/** What this program is compatible with. Operators compare it before an upgrade. */
import * as Hello from "../../network/Hello.js"
import * as Protocol from "../../protocol/epoch/Protocol.js"
import * as NodeSchema from "../../storage/schema/Node.js"
import * as Migration from "../../storage/sqlite/Migration.js"

export interface Versions {
  /** Of the program. */
  readonly version: string
  /** Of the rules: nodes with different ones do not agree on a state. */
  readonly protocol: number
  /** Of the messages between nodes: nodes with different ones do not talk. */
  readonly wire: number
  /** Of the schema of `udg.db`: a program opens this one and older ones, which it migrates. */
  readonly database: number
}

export const of = (version: string): Versions => ({
  version,
  protocol: Protocol.VERSION,
  wire: Hello.PROTOCOL_VERSION,
  database: Migration.newest(NodeSchema.migrations),
})

/** The program with its versions, for other nodes. The version of the wire has a field of its own in the greeting. */
export const agentOf = ({ version, protocol, database }: Versions): string =>
  Hello.agentOf(`${version} (protocol ${protocol}, database ${database})`)
