/**
 * The exports of the package `udg-node`: everything that a program needs to talk to a node. The node itself is the
 * command `udg`.
 */
export * from "./Client.js"
export * as Wallet from "./Wallet.js"
