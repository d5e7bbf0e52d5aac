/** An upgrade of the protocol, by vote. */
import { expect } from "vitest"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import * as Serving from "../gateway/Serving.js"
import * as Processes from "./Processes.js"

/** Three of four validators vote for the newest protocol version, through this node. */
export const forNewestVersion = async (network: Processes.Founded, { http }: Processes.Started): Promise<void> => {
  const post = async (path: string, n: number, body: object) => {
    const secret = { secret_key: network.keys[n]?.toSecretHex(), fee: 1_000 }
    expect(await Serving.post(`${http}${path}`, { ...secret, ...body })).toMatchObject({ status: 200 })
  }
  const proposal_type = { ParameterChange: { param: ProtocolVersion.PARAMETER, value: ProtocolVersion.NEWEST } }
  await post("/proposal", 0, { title: "Upgrade", description: "", proposal_type })
  await Processes.until("the proposal is final", async () =>
    JSON.stringify((await Serving.get(`${http}/proposals`)).body).includes("Active"),
  )
  for (const n of [0, 1, 2]) await post("/vote", n, { proposal_id: 1, vote: true })
}
