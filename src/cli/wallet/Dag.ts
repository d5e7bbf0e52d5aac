/** `udg round` and `udg vertex`: one round or vertex of the DAG. */
import { Effect, Option } from "effect"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import * as Figure from "../terminal/Figure.js"
import * as Out from "../terminal/Out.js"
import * as Paint from "../terminal/Paint.js"
import * as Abbreviations from "./Abbreviations.js"
import * as Describe from "./Describe.js"
import * as Verb from "./Verb.js"

const settings = { node: Verb.node, json: Verb.json }

const number = Setting.optionalArgument("ROUND", "the number of the round", Reader.round, "the last final one")

export const round = Verb.make({
  name: "round",
  about: "shows the vertices of a round",
  settings: { number, ...settings },
  examples: [["the last final one, and another", "udg round; udg round 1200"]],
  run: (given) =>
    Effect.gen(function* () {
      const { node, prefix } = yield* Verb.contact(given)
      const wanted = Option.isSome(given.number)
        ? given.number.value
        : (yield* node.ask((client) => client.core.status())).last_finalized_round
      const found = yield* node.ask((client) => client.dag.round({ path: { round: wanted } }))
      const { timestamp, finalized, vertices } = found
      yield* Out.sheet(given.json, found, () => ({
        lines: [
          ["round", Figure.count(found.round)],
          ["status", finalized ? "final" : "not final yet", Paint.state],
          ["time", timestamp === null ? null : Describe.moment(timestamp)],
        ],
        none: "the node has no vertices of this round",
        columns: [
          { title: "VERTEX", cutAt: "middle", paint: Paint.quiet },
          { title: "VALIDATOR", cutAt: "middle", paint: Paint.quiet },
          { title: "PARENTS", align: "right" },
          { title: "TRANSACTIONS", align: "right" },
          { title: "REWARD", align: "right" },
        ],
        rows: vertices.map(({ hash, validator, parent_count, tx_count, reward }) => [
          hash,
          Describe.account(validator, prefix),
          Figure.count(parent_count),
          Figure.count(tx_count),
          Figure.coins(reward),
        ]),
      }))
    }),
})

const hash = Setting.argument("HASH", "a vertex's hash, or at least its first four digits", Reader.shownVertex)

export const vertex = Verb.make({
  name: "vertex",
  about: "shows a vertex, its parents and its transactions",
  settings: { hash, ...settings },
  examples: [
    ["by its hash", "udg vertex 3256fc63d7aa382ee33a5d76c6116601b5fe48ab7cb6b7d7cfe1ed873721619c"],
    ["by its first digits", "udg vertex 3256fc"],
  ],
  run: (given) =>
    Effect.gen(function* () {
      const { node, prefix } = yield* Verb.contact(given)
      const hash = yield* Abbreviations.hash(node, "vertices", given.hash)
      const found = yield* node.ask((client) => client.dag.vertex({ path: { hash } }))
      return yield* Out.sheet(given.json, found, () => ({
        lines: [
          ["vertex", found.hash, Paint.quiet],
          ["status", found.finalized ? "final" : "not final yet", Paint.state],
          ["round", Figure.count(found.round)],
          ["validator", Describe.account(found.validator, prefix), Paint.quiet],
          ["time", Describe.moment(found.timestamp)],
          ["reward", Figure.coins(found.coinbase_reward)],
          ["parents", found.parents, Paint.quiet],
        ],
        none: "no transactions",
        columns: [
          { title: "TRANSACTION", cutAt: "middle", paint: Paint.quiet },
          { title: "TYPE" },
          { title: "FEE", align: "right" },
          { title: "OUTCOME", paint: Paint.state },
        ],
        rows: found.transactions.map(({ hash, type, fee, outcome }) => [
          hash,
          type,
          Figure.coins(fee),
          outcome ?? "not final yet",
        ]),
      }))
    }),
})
