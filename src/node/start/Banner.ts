/** The summary that a node prints at startup. */
import { Option } from "effect"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Sats from "../../protocol/numbers/Sats.js"

export interface Facts {
  readonly version: string
  readonly genesis: Genesis.Genesis
  readonly isFounded: boolean
  /** None if nothing is stored. */
  readonly dataDirectory: Option.Option<string>
  /** Its account. */
  readonly validator: Option.Option<Address.Address>
  readonly faucetAddress: Option.Option<Address.Address>
  readonly rpc: string
  readonly rateLimits: boolean
  /** The address for other nodes; none if they cannot connect. */
  readonly p2p: Option.Option<string>
}

const line = (name: string, value: string): string => `  ${name.padEnd(16)}${value}`

const coins = (sats: number): string =>
  `${(sats / Sats.SATS_PER_COIN).toLocaleString("en", { maximumFractionDigits: 8 })} UDG`

const both = (address: Address.Address, mode: Network.Mode): ReadonlyArray<string> => [
  address,
  Address.toBech32(address, Network.addressPrefix(mode)),
]

const named = (name: string, values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.map((value, i) => line(i === 0 ? name : "", value))

const validatorLines = ({ validator, genesis }: Facts): ReadonlyArray<string> =>
  Option.match(validator, {
    onNone: () => [line("validator", "none: this node only follows the network")],
    onSome: (account) => named("validator", both(account, genesis.mode)),
  })

const faucetLines = ({ genesis, faucetAddress, rpc, rateLimits }: Facts): ReadonlyArray<string> => {
  const { faucet } = genesis
  if (faucet === null) return []
  if (Option.isNone(faucetAddress)) return [line("faucet", "served by another node, which has its key")]
  return named("faucet", [
    ...both(faucetAddress.value, genesis.mode),
    `up to ${coins(faucet.maxRequest)} per request${rateLimits ? ", once in ten minutes" : ""}:`,
    `curl ${rpc}/faucet \\`,
    "  -H 'content-type: application/json' \\",
    `  -d '{"address":"YOURS","amount":100000000000}'`,
  ])
}

export const lines = (facts: Facts): ReadonlyArray<string> => {
  const { version, genesis, isFounded, rpc, p2p, dataDirectory } = facts
  return [
    `udg ${version}`,
    "",
    line("network", `${genesis.networkId} (${genesis.mode}${isFounded ? ", made just now" : ""})`),
    line("genesis", Genesis.hash(genesis)),
    line("rounds", `every ${genesis.protocol.roundIntervalMs} ms`),
    line("rpc", rpc),
    line("explorer", `${rpc}/explorer/`),
    line("api reference", `${rpc}/docs`),
    line(
      "p2p",
      Option.getOrElse(p2p, () => "cannot be reached by other nodes"),
    ),
    line(
      "data directory",
      Option.getOrElse(dataDirectory, () => "none, nothing is kept"),
    ),
    line("log", "on stderr; RUST_LOG=debug logs more"),
    ...validatorLines(facts),
    ...faucetLines(facts),
    "",
  ]
}
