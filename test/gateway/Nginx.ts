/** A real nginx with our configuration for gateways, in front of two gateways on this machine. */
import { join } from "node:path"
import { expect } from "vitest"
import { Running } from "../blackbox/Running.js"
import * as Processes from "../network/Processes.js"
import { textOf } from "../ops/Kit.js"
import { freePort, mainConfiguration } from "../ops/RealNginx.js"
import { type Gateway, get } from "./Serving.js"

export interface Front {
  readonly port: number
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Returns when nginx serves. All its files are in the folder. */
export const before = async (folder: string, first: Gateway, second: Gateway): Promise<Front> => {
  const port = await freePort()
  const changes: ReadonlyArray<readonly [what: string, instead: string, times: number]> = [
    ["  listen 80;", `  listen 127.0.0.1:${port};`, 1],
    ["server gateway-1:10333 ", `server ${new URL(first.url).host} `, 2],
    ["server gateway-2:10333 ", `server ${new URL(second.url).host} `, 2],
  ]
  const configuration = changes
    .reduce((text, [what, instead, times]) => {
      expect(text.split(what)).toHaveLength(1 + times)
      return text.replaceAll(what, instead)
    }, textOf("nginx/gateways.conf"))
    .concat(textOf("nginx/refusals.conf"))
  const nginx = new Running("nginx", ["-c", mainConfiguration(join(folder, "nginx"), configuration)])
  const url = `http://127.0.0.1:${port}`
  await Processes.until("nginx serves", () =>
    get(`${url}/health`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
  return {
    port,
    url,
    stop: async () => {
      await nginx.stop()
    },
  }
}
