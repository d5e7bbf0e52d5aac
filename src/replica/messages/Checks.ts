/** The signatures that must hold before a message may come in. */

import type { Core } from "../../consensus/Core.js"
import * as Validity from "../../consensus/dag/Validity.js"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import * as Header from "../../protocol/vertex/Header.js"
import * as Heartbeat from "../../protocol/vertex/Heartbeat.js"
import type { Message } from "./Message.js"

/**
 * Closing checkpoints are judged where the counting signers are known, state by its root. `signerOf` returns none for
 * epochs long past or not begun here, or once a quorum has signed: such signatures are dropped anyway. `isVerified`:
 * whether this transaction was found valid before.
 */
export const checksOf = (
  message: Message,
  networkId: NetworkId,
  signerOf: Core["signerOf"],
  isVerified: (transaction: Transaction) => boolean,
): ReadonlyArray<Verification.Check> => {
  switch (message._tag) {
    case "Vertices":
    case "Rounds":
      return message.vertices.flatMap((vertex) => Validity.signatureChecks(networkId, vertex, isVerified))
    case "Transactions":
      return message.transactions
        .filter((transaction) => !isVerified(transaction))
        .flatMap((transaction) => Verification.checksOf(networkId, transaction))
    case "Heartbeat":
      return [Heartbeat.check(message.heartbeat)]
    case "Evidence":
      return [Header.check(message.evidence.first), Header.check(message.evidence.second)]
    case "CheckpointSignature": {
      const { checkpoint, signature } = message
      const signer = signerOf(checkpoint, signature.validator)
      return signer === undefined ? [] : [Checkpoint.check(checkpoint, signer, signature.signature)]
    }
    case "Highest":
      return message.header === null ? [] : [Header.check(message.header)]
    case "AskVertices":
    case "AskRounds":
    case "AskClosing":
    case "AskHighest":
    case "AskState":
    case "Closing":
    case "State":
      return []
  }
}
