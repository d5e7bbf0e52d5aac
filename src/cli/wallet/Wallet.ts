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

export const verbs: ReadonlyArray<Command> = [
  Keys.keygen,
  Keys.address,
  KeyFiles.keys,
  Reads.status,
  Reads.balance,
  Payments.faucet,
  Payments.send,
  Statement.history,
  Reads.transaction,
  Watching.watch,
  Staking.stake,
  Staking.unstake,
  Staking.delegate,
  Staking.undelegate,
  Staking.setCommission,
  Reads.validators,
  Governance.propose,
  Governance.vote,
  Reads.proposals,
  Identity.name,
  Identity.policy,
  Multisig.multisig,
  Message.sign,
  Message.verify,
  Convert.convert,
  Dag.round,
  Dag.vertex,
  NodeState.mempool,
  NodeState.peers,
  NodeState.parameters,
  Watching.events,
]
