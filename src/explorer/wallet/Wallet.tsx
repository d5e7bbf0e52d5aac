import * as Network from "../live/Network.js"
import { Page } from "../show/Page.js"
import { Desk } from "./Desk.js"
import { Doors } from "./Doors.js"
import * as Session from "./Session.js"

const abouts = {
  testnet: "Keys are made, kept and used in this browser; the node sees only what is signed. For play money only.",
  mainnet: "Signs transactions with a key that you bring, and keeps none.",
} as const

export const Wallet = () => {
  const info = Network.network.value
  const session = Session.session.value
  if (info === undefined) return <Page title="Wallet">Waiting for the node…</Page>
  return (
    <Page title="Wallet" about={abouts[info.mode]}>
      {session === undefined ? <Doors info={info} /> : <Desk info={info} session={session} />}
    </Page>
  )
}
