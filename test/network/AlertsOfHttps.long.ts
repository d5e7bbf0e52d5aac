/**
 * The alerts of a public address fire at the failures they are meant for: a real node behind a real nginx with TLS, a
 * real blackbox exporter, and a real Prometheus with the shipped rules.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, afterEach, describe, expect, it, onTestFinished } from "vitest"
import { program, Running } from "../blackbox/Running.js"
import { isTried } from "../ops/Kit.js"
import { certify, freePort, mainConfiguration, udgConfiguration } from "../ops/RealNginx.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { Alarms, endAll, isInstalled, LIMIT_MS, measure, printTable } from "./Alarms.js"

afterEach(endAll)

afterAll(printTable)

const EXPORTER = "prometheus-blackbox-exporter"

const areInstalled = (): boolean => isInstalled() && isTried("nginx", "-v") && isTried(EXPORTER, "--version")

const running = (command: string, words: ReadonlyArray<string>): Running => {
  const started = new Running(command, words)
  onTestFinished(async () => void (await started.stop("SIGKILL")))
  return started
}

const answers = (url: string) => (): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

/** A node behind nginx with a certificate of so many days, and an exporter that trusts it. */
const probed = async (days: number) => {
  const folder = TemporaryFolder.forTest("https")
  const node = running(process.execPath, [program, "--ephemeral", "--port", "0", "--rpc-port", "0"])
  await node.until(() => /running/.test(node.stderr))
  const own = Number(/^ {2}rpc +http:\/\/127\.0\.0\.1:(\d+)$/m.exec(node.stdout)?.[1])
  const ports = { plain: await freePort(), served: await freePort(), secure: await freePort(), node: own }
  const certificate = certify(folder, days)
  const nginx = running("nginx", ["-c", mainConfiguration(folder, udgConfiguration(ports, folder))])
  await nginx.until(answers(`http://127.0.0.1:${ports.served}/health`))
  const modules = { http_2xx: { prober: "http", http: { tls_config: { ca_file: certificate } } } }
  const file = join(folder, "blackbox.yml")
  writeFileSync(file, JSON.stringify({ modules }))
  const exporter = `127.0.0.1:${await freePort()}`
  const blackbox = running(EXPORTER, ["--config.file", file, "--web.listen-address", exporter])
  await blackbox.until(answers(`http://${exporter}/-/healthy`))
  const address = `https://127.0.0.1:${ports.secure}/health`
  return { folder, nginx, blackbox, target: { http: address }, https: { address, exporter } }
}

describe.runIf(areInstalled())("a real failure fires its alert", () => {
  it(
    "a certificate that is about to expire",
    async () => {
      const { folder, https, target } = await probed(13)
      const alarms = await Alarms.start(folder, [], { https })
      await measure("a certificate with 13 days left", alarms, "UdgCertificateExpires", target)
      expect(await alarms.isFiring("UdgHttpsFails", target)).toBe(false)
    },
    LIMIT_MS,
  )

  it(
    "a proxy that is down",
    async () => {
      const { folder, https, target, nginx, blackbox } = await probed(30)
      const alarms = await Alarms.onHealthy(folder, [], { https })
      await nginx.stop("SIGKILL")
      await measure("the proxy is killed", alarms, "UdgHttpsFails", target)
      // Without its exporter the probe's result is gone, and the alert must not end.
      await blackbox.stop("SIGKILL")
      await sleep(40_000)
      expect(await alarms.isFiring("UdgHttpsFails", target)).toBe(true)
    },
    LIMIT_MS,
  )
})
