/** `udg peers`, `udg mempool` and `udg parameters`: a node's state and its network's parameters. */
import { Clock, Effect } from "effect"
import * as Figure from "../terminal/Figure.js"
import * as Out from "../terminal/Out.js"
import * as Paint from "../terminal/Paint.js"
import * as Describe from "./Describe.js"
import * as Verb from "./Verb.js"

const settings = { node: Verb.node, json: Verb.json }

export const peers = Verb.make({
  name: "peers",
  about: "lists the nodes that a node is connected to",
  settings,
  examples: [["of the node on this machine", "udg peers"]],
  run: (given) =>
    Effect.gen(function* () {
      const { node } = yield* Verb.contact(given)
      const found = yield* node.ask((client) => client.core.peers())
      const now = yield* Clock.currentTimeMillis
      yield* Out.sheet(given.json, found, () => ({
        lines: [
          ["connected", Figure.count(found.connected)],
          [
            "missing",
            found.bootstrap_nodes.flatMap(({ address, connected }) => (connected ? [] : [address])),
            Paint.alarm,
          ],
        ],
        none: "no peers",
        columns: [
          { title: "PEER", cutAt: "middle", paint: Paint.quiet },
          { title: "ADDRESS", cutAt: "end" },
          { title: "DIRECTION" },
          { title: "PROGRAM", cutAt: "end" },
          { title: "LATENCY", align: "right" },
          { title: "SINCE", align: "right" },
        ],
        rows: found.peers.map(({ id, address, direction, agent, latency_ms, connected_since }) => [
          id,
          address,
          direction,
          agent,
          latency_ms === null ? "" : `${latency_ms.toFixed(1)} ms`,
          Figure.duration(now - connected_since),
        ]),
      }))
    }),
})

export const mempool = Verb.make({
  name: "mempool",
  about: "lists pending transactions, highest fee first",
  settings,
  examples: [["pending transactions and their fees", "udg mempool"]],
  footer: ["A node shows the hundred with the highest fees."],
  run: (given) =>
    Effect.gen(function* () {
      const { node, prefix } = yield* Verb.contact(given)
      const found = yield* node.ask((client) => client.core.mempool())
      const now = yield* Clock.currentTimeMillis
      yield* Out.table(given.json, found, () => ({
        none: "no transaction is pending",
        columns: [
          { title: "TRANSACTION", cutAt: "middle", paint: Paint.quiet },
          { title: "TYPE" },
          { title: "FROM", cutAt: "middle", paint: Paint.quiet },
          { title: "NONCE", align: "right" },
          { title: "UDG", align: "right", paint: Paint.strong },
          { title: "FEE", align: "right" },
          { title: "AGE", align: "right" },
        ],
        rows: found.map(({ hash, type, from, nonce, amount, fee, received_at }) => [
          hash,
          type,
          Describe.account(from, prefix),
          Figure.count(nonce),
          amount === undefined ? "" : Figure.amount(amount),
          Figure.amount(fee),
          Figure.duration(now - received_at),
        ]),
      }))
    }),
})

/** A value with its unit, in sats where `--set` takes sats. Rounds are in the parameter's name. */
const figure = (name: string, value: number): string => {
  if (name.endsWith("_percent")) return `${value} %`
  if (name.endsWith("_sats")) return Figure.counted(value, "sat")
  if (name === "round_reward") return Figure.coins(value)
  return name.endsWith("_ms") ? `${Figure.count(value)} ms` : Figure.count(value)
}

export const parameters = Verb.make({
  name: "parameters",
  about: "shows the parameters of the network",
  settings,
  footer: ["A proposal can set a value from LEAST to MOST. A parameter without bounds never changes."],
  examples: [["show the values, and propose a change", "udg parameters; udg propose 'Cheaper' --set min_fee_sats=500"]],
  run: (given) =>
    Effect.gen(function* () {
      const { node, info } = yield* Verb.contact(given)
      const { governable_params } = yield* node.ask((client) => client.governance.config())
      const fixed = Object.entries(info.parameters).filter(
        ([name]) => !governable_params.some((governed) => governed.name === name),
      )
      const least = fixed.map(([name, value]) => [name, value === null ? "none" : figure(name, value), "", ""])
      yield* Out.table(given.json, { ...info.parameters, governable_params }, () => ({
        none: "the network has no parameters",
        columns: [
          { title: "PARAMETER" },
          { title: "VALUE", align: "right", paint: Paint.strong },
          { title: "LEAST", align: "right" },
          { title: "MOST", align: "right" },
        ],
        rows: [
          ...governable_params.map(({ name, value, min, max }) => [
            name,
            figure(name, value),
            ...[min, max].map((bound) => (name.endsWith("_sats") ? Figure.count(bound) : figure(name, bound))),
          ]),
          ...least,
        ],
      }))
    }),
})
