/** Compatibility versions, which operators compare before an upgrade. */
import * as Hello from "../../network/Hello.js"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import * as NodeSchema from "../../storage/schema/Node.js"
import * as Migration from "../../storage/sqlite/Migration.js"

export interface Versions {
  readonly version: string
  /** The newest protocol version that the program knows. A network runs the version that it voted for. */
  readonly protocol: number
  /** The messages between nodes: nodes with different ones do not talk. */
  readonly wire: number
  /** The schema of `udg.db`: a program opens this version and migrates older ones. */
  readonly database: number
}

export const of = (version: string): Versions => ({
  version,
  protocol: ProtocolVersion.NEWEST,
  wire: Hello.PROTOCOL_VERSION,
  database: Migration.newest(NodeSchema.migrations),
})

/** The program with its versions, for other nodes. The wire version has its own field in the greeting. */
export const agentOf = ({ version, protocol, database }: Versions): string =>
  Hello.agentOf(`${version} (protocol ${protocol}, database ${database})`)
