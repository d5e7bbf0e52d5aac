import { Checkpoint, Checkpoints } from "./epochs/Checkpoints.js"
import { Epoch } from "./epochs/Epoch.js"
import { Accounts } from "./pages/Accounts.js"
import { Address } from "./pages/Address.js"
import { Dag } from "./pages/Dag.js"
import { Mempool } from "./pages/Mempool.js"
import { NotFound } from "./pages/NotFound.js"
import { Overview } from "./pages/Overview.js"
import { Parameters } from "./pages/Parameters.js"
import { Peers } from "./pages/Peers.js"
import { Proposal } from "./pages/Proposal.js"
import { Proposals } from "./pages/Proposals.js"
import { Round } from "./pages/Round.js"
import { Search } from "./pages/Search.js"
import { Transaction } from "./pages/Transaction.js"
import { Transactions } from "./pages/Transactions.js"
import { Vertex } from "./pages/Vertex.js"
import type { Route } from "./route/Route.js"
import { Suspended } from "./show/Suspended.js"
import { Validator } from "./validators/Validator.js"
import { Validators } from "./validators/Validators.js"

/** Keys and signing code are loaded with the wallet only. */
const wallet = () => import("./wallet/Wallet.js").then(({ Wallet }) => Wallet)

/** Loaded with the charts only. */
const charts = () => import("./pages/Charts.js").then(({ Charts }) => Charts)

/** The page of a route. Each subject has its own key, so that another account starts a new page. */
export const View = ({ route }: { readonly route: Route }) => {
  switch (route.page) {
    case "overview":
      return <Overview />
    case "dag":
      return <Dag />
    case "transactions":
      return <Transactions />
    case "charts":
      return (
        <Suspended load={charts} what="the charts">
          {(Charts) => <Charts />}
        </Suspended>
      )
    case "accounts":
      return <Accounts />
    case "validators":
      return <Validators />
    case "proposals":
      return <Proposals />
    case "mempool":
      return <Mempool />
    case "peers":
      return <Peers />
    case "checkpoints":
      return <Checkpoints />
    case "parameters":
      return <Parameters />
    case "wallet":
      return (
        <Suspended load={wallet} what="the wallet">
          {(Wallet) => <Wallet />}
        </Suspended>
      )
    case "address":
      return <Address key={route.of} account={route.of} />
    case "tx":
      return <Transaction key={route.of} hash={route.of} />
    case "vertex":
      return <Vertex key={route.of} hash={route.of} />
    case "round":
      return <Round key={route.of} round={route.of} />
    case "validator":
      return <Validator key={route.of} account={route.of} />
    case "proposal":
      return <Proposal key={route.of} id={route.of} />
    case "checkpoint":
      return <Checkpoint key={route.of} round={route.of} />
    case "epoch":
      return <Epoch key={route.of} number={route.of} />
    case "search":
      return <Search key={route.query} query={route.query} />
    case "nowhere":
      return <NotFound path={route.path} />
  }
}
