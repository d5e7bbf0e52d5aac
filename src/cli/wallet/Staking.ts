/** Staking, delegating, and a validator's commission. All of it is free of fees when it is applied. */
import { Effect } from "effect"
import * as Wallet from "../../client/Wallet.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { WrongUsage } from "../settings/WrongUsage.js"
import * as Describe from "./Describe.js"
import * as Sending from "./Sending.js"
import * as Verb from "./Verb.js"

const amount = Setting.argument("amount", { placeholder: "AMOUNT", about: "how much, in UDG" }, Reader.positiveAmount)

const release =
  "All of it is released. It works until the epoch ends and is paid out after the cooldown; udg balance says at which round."

export const stake = Verb.make({
  name: "stake",
  about: "becomes a validator, or adds to its stake",
  settings: { amount, ...Sending.settings },
  examples: [
    ["the least there is, for a validator whose key lies with its node", "udg stake 2000 --key validator.key"],
  ],
  footer: [
    `At least ${Describe.coins(Sats.MIN_STAKE_SATS)}, also to add to it. A validator needs a node that runs: one that is silent ` +
      "loses its seat, and one that signs twice half of its stake.",
    ...Sending.footer,
  ],
  run: (given) =>
    given.amount < Sats.MIN_STAKE_SATS
      ? new WrongUsage({
          message: `a stake is at least ${Describe.coins(Sats.MIN_STAKE_SATS)}, also to add to one; give more`,
        })
      : Sending.send(given, "StakeTx", ({ network }) =>
          Effect.succeed((from, common) =>
            Wallet.unsigned(network, from, "StakeTx", { ...common, amount: given.amount }),
          ),
        ),
})

export const unstake = Verb.make({
  name: "unstake",
  about: "takes the whole stake back",
  settings: Sending.settings,
  examples: [["of a validator, with the key of its node", "udg unstake --key data/validator.key"]],
  footer: [release, ...Sending.footer],
  run: (given) =>
    Sending.send(given, "UnstakeTx", ({ network }) =>
      Effect.succeed((from, common) => Wallet.unsigned(network, from, "UnstakeTx", common)),
    ),
})

const validator = Setting.argument(
  "validator",
  { placeholder: "VALIDATOR", about: "an active validator: an address or a @name" },
  Reader.text,
)

export const delegate = Verb.make({
  name: "delegate",
  about: "lends stake to a validator for a share of its rewards",
  settings: { validator, amount, ...Sending.settings },
  examples: [["see who there is, and lend a hundred coins", "udg validators; udg delegate @dora 100"]],
  footer: [
    "It stays yours, and is slashed with the validator. An account delegates to one validator, and may add to it.",
    ...Sending.footer,
  ],
  run: (given) =>
    Sending.send(given, "DelegateTx", ({ network, resolve }) =>
      Effect.map(
        resolve(given.validator),
        (to) => (from, common) =>
          Wallet.unsigned(network, from, "DelegateTx", { ...common, validator: to, amount: given.amount }),
      ),
    ),
})

export const undelegate = Verb.make({
  name: "undelegate",
  about: "takes the whole delegation back",
  settings: Sending.settings,
  examples: [["and see when it is paid out", "udg undelegate && udg balance"]],
  footer: [release, ...Sending.footer],
  run: (given) =>
    Sending.send(given, "UndelegateTx", ({ network }) =>
      Effect.succeed((from, common) => Wallet.unsigned(network, from, "UndelegateTx", common)),
    ),
})

const percent = Setting.argument(
  "percent",
  { placeholder: "PERCENT", about: "what it keeps of its delegators' rewards, 0 to 100" },
  Reader.percent,
)

export const setCommission = Verb.make({
  name: "set-commission",
  about: "sets what a validator keeps of its delegators' rewards",
  settings: { percent, ...Sending.settings },
  examples: [["five per cent", "udg set-commission 5 --key data/validator.key"]],
  footer: ["One change for each validator and epoch.", ...Sending.footer],
  run: (given) =>
    Sending.send(given, "SetCommissionTx", ({ network }) =>
      Effect.succeed((from, common) =>
        Wallet.unsigned(network, from, "SetCommissionTx", { ...common, commission_percent: given.percent }),
      ),
    ),
})
