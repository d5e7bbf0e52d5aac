/** The wallet's verbs, in the order of the help page. */
import type { Command } from "../settings/Command.js"
import * as Convert from "./Convert.js"
import * as Dag from "./Dag.js"
import * as Governance from "./Governance.js"
import * as Identity from "./Identity.js"
import * as KeyFiles from "./KeyFiles.js"
import * as Keys from "./Keys.js"
import * as Message from "./Message.js"
import * as Multisig from "./Multisig.js"
import * as NodeState from "./NodeState.js"
import * as Payments from "./Payments.js"
import * as Reads from "./Reads.js"
import * as Staking from "./Staking.js"
import * as Statement from "./Statement.js"
import * as Watching from "./Watching.js"

/** Commands of one section of the help page. */
export interface Group {
  readonly title: string
  readonly commands: ReadonlyArray<Command>
}

export const groups: ReadonlyArray<Group> = [
  {
    title: "Keys and signatures",
    commands: [Keys.keygen, Keys.address, KeyFiles.keys, Message.sign, Message.verify, Convert.convert],
  },
  {
    title: "Money",
    commands: [Reads.balance, Payments.faucet, Payments.send, Statement.history, Reads.transaction, Watching.watch],
  },
  {
    title: "Stake and delegation",
    commands: [
      Reads.validators,
      Staking.stake,
      Staking.unstake,
      Staking.delegate,
      Staking.undelegate,
      Staking.setCommission,
      Staking.rotateKey,
    ],
  },
  { title: "Votes", commands: [Reads.proposals, Governance.propose, Governance.vote] },
  { title: "Names and several signers", commands: [Identity.name, Identity.policy, Multisig.multisig] },
  {
    title: "What a node knows",
    commands: [
      Reads.status,
      NodeState.parameters,
      NodeState.peers,
      NodeState.mempool,
      Dag.round,
      Dag.vertex,
      Watching.events,
    ],
  },
]

export const verbs: ReadonlyArray<Command> = groups.flatMap(({ commands }) => commands)
