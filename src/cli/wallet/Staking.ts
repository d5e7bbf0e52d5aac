/** Staking, delegating and commission. These types are free if applied; a failed one costs the minimum fee. */
import { Effect, Option } from "effect"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Possession from "../../protocol/transaction/Possession.js"
import * as KeyStore from "../keys/KeyStore.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { wrongUsage } from "../settings/WrongUsage.js"
import * as Describe from "./Describe.js"
import * as Sending from "./Sending.js"
import * as Verb from "./Verb.js"

const amount = Setting.argument("AMOUNT", "how much, in UDG", Reader.positiveAmount)

const release =
  "The whole amount is released. It counts until the epoch ends and is paid out after the cooldown; udg balance shows the round."

const leastStake = Describe.coins(Sats.MIN_STAKE_SATS)

export const stake = Verb.make({
  name: "stake",
  about: "becomes a validator, or adds to its stake",
  settings: { amount, ...Sending.settings },
  examples: [
    ["the smallest stake, for a validator whose key is stored with its node", "udg stake 2000 --key validator.key"],
  ],
  footer: [
    `The minimum is ${leastStake}, also when adding. A validator needs a running node: a silent one loses its seat, and one ` +
      "that signs two vertices for a round is slashed.",
    ...Sending.footer,
  ],
  run: (given) =>
    given.amount < Sats.MIN_STAKE_SATS
      ? wrongUsage(`a stake is at least ${leastStake}, also when adding to one; stake more`)
      : Sending.send(given, "StakeTx", { amount: given.amount }),
})

export const unstake = Verb.make({
  name: "unstake",
  about: "takes the whole stake back",
  settings: Sending.settings,
  examples: [["a validator's stake, with its node's key", "udg unstake --key data/validator.key"]],
  footer: [release, ...Sending.footer],
  run: (given) => Sending.send(given, "UnstakeTx", {}),
})

const validator = Setting.argument("VALIDATOR", "an active validator: an address or a @name", Reader.text)

export const delegate = Verb.make({
  name: "delegate",
  about: "locks coins with a validator for a share of its rewards",
  settings: { validator, amount, ...Sending.settings },
  examples: [["list the validators, and delegate a hundred coins to one", "udg validators; udg delegate @dora 100"]],
  footer: [
    "The coins stay yours but are slashed with the validator. An account delegates to one validator, and can add to it.",
    ...Sending.footer,
  ],
  run: (given) =>
    Sending.sendResolved(given, "DelegateTx", ({ resolve }) =>
      Effect.map(resolve(given.validator), (address) => ({ validator: address, amount: given.amount })),
    ),
})

export const undelegate = Verb.make({
  name: "undelegate",
  about: "takes the whole delegation back",
  settings: Sending.settings,
  examples: [["and see when it is paid out", "udg undelegate && udg balance"]],
  footer: [release, ...Sending.footer],
  run: (given) => Sending.send(given, "UndelegateTx", {}),
})

const percent = Setting.argument(
  "PERCENT",
  "the share of its delegators' rewards that the validator keeps, 0 to 100",
  Reader.percent,
)

export const setCommission = Verb.make({
  name: "set-commission",
  about: "sets the share of its delegators' rewards that a validator keeps",
  settings: { percent, ...Sending.settings },
  examples: [["five per cent", "udg set-commission 5 --key data/validator.key"]],
  footer: ["One change per validator and epoch.", ...Sending.footer],
  run: (given) => Sending.send(given, "SetCommissionTx", { commission_percent: given.percent }),
})

const nextKey = Setting.argument("FILE", "file with the new key, as udg keygen makes it", Reader.keyPath)

export const rotateKey = Verb.make({
  name: "rotate-key",
  about: "changes the key with which a validator signs, from the next epoch on",
  settings: { nextKey, ...Sending.settings },
  examples: [
    [
      "make a key, and change to it",
      "udg keygen --key data/validator-2.key && udg rotate-key data/validator-2.key --key data/validator.key",
    ],
  ],
  footer: [
    "Stake, delegations, seat and rewards stay with the account, and the old key still signs its transactions. Once an " +
      "epoch has begun whose committee has the new key, usually the next one, the node signs with it, if the file is in its data directory under a name such as validator-2.key.",
    ...Sending.footer,
  ],
  run: (given) =>
    Sending.sendResolved(given, "RotateKeyTx", ({ networkId, claim }) =>
      Effect.gen(function* () {
        const { publicKey, unlock } = yield* KeyStore.load(Option.some(given.nextKey))
        const proof = Possession.sign(networkId, yield* claim, yield* unlock)
        return { validator_key: publicKey, proof }
      }),
    ),
})
