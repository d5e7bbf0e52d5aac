/** What `import … from "udg-node"` gives: all that a program needs to talk to a node. The node itself is the command `udg`. */
export * from "./Client.js"
export * as Wallet from "./Wallet.js"
