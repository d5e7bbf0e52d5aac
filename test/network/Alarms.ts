/**
 * A Prometheus with the shipped rules, which watches real processes; and the time from each failure to its alert, printed
 * after a file's tests.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { Running } from "../blackbox/Running.js"
import { isTried, pathOf, yamlOf } from "../ops/Kit.js"
import { freePort } from "../ops/RealNginx.js"

/** For a test. */
export const LIMIT_MS = 1_500_000
/** For an alert. */
export const PATIENCE_MS = 1_200_000

export const isInstalled = (): boolean => isTried("prometheus", "--version")

/** Something with metrics. */
export interface Target {
  readonly http: string | null
}

const hostOf = ({ http }: Target): string => new URL(http ?? "").host

/** The job of HTTPS addresses, as shipped, for this one. */
const httpsJob = (address: string, exporter: string): object => {
  const { scrape_configs } = yamlOf("prometheus/prometheus.yml") as {
    readonly scrape_configs: ReadonlyArray<{ readonly job_name: string; readonly relabel_configs: object }>
  }
  const job = scrape_configs.find(({ job_name }) => job_name === "udg-https")
  const text = JSON.stringify({ ...job, file_sd_configs: [], static_configs: [{ targets: [address] }] })
  return JSON.parse(text.replace("127.0.0.1:9115", exporter)) as object
}

interface Watching {
  /** A file, by default the shipped one. */
  readonly rules?: string
  /** An address that a blackbox exporter probes. */
  readonly https?: { readonly address: string; readonly exporter: string }
}

interface Alert {
  readonly state: string
  readonly labels: { readonly alertname: string; readonly instance: string }
}

/** A Prometheus with the rules and the intervals of ops/. */
export class Alarms {
  readonly #url: string
  readonly #process: Running

  private constructor(url: string, process: Running) {
    this.#url = url
    this.#process = process
  }

  static async start(
    folder: string,
    targets: ReadonlyArray<Target>,
    { rules = pathOf("prometheus/alerts.yml"), https }: Watching = {},
  ): Promise<Alarms> {
    const shipped = yamlOf("prometheus/prometheus.yml") as { readonly global: object }
    const configuration = {
      global: shipped.global,
      rule_files: [rules],
      scrape_configs: [
        { job_name: "udg", static_configs: [{ targets: targets.map(hostOf) }] },
        ...(https === undefined ? [] : [httpsJob(https.address, https.exporter)]),
      ],
    }
    const file = join(folder, "prometheus.yml")
    // JSON is YAML too.
    writeFileSync(file, JSON.stringify(configuration))
    const address = `127.0.0.1:${await freePort()}`
    const words = ["--config.file", file, "--storage.tsdb.path", join(folder, "tsdb"), "--web.listen-address", address]
    const process = new Running("prometheus", words)
    const alarms = new Alarms(`http://${address}`, process)
    running.push(alarms)
    await process.until(() =>
      alarms.alerts().then(
        () => true,
        () => false,
      ),
    )
    return alarms
  }

  /** Watches what is healthy: some scrapes later nothing fires, and a counter that started high has not risen. */
  static async onHealthy(...started: Parameters<typeof Alarms.start>): Promise<Alarms> {
    const alarms = await Alarms.start(...started)
    await sleep(30_000)
    expect((await alarms.alerts()).filter(({ state }) => state === "firing")).toEqual([])
    return alarms
  }

  async alerts(): Promise<ReadonlyArray<Alert>> {
    const answer = (await (await fetch(`${this.#url}/api/v1/alerts`)).json()) as {
      readonly data: { readonly alerts: ReadonlyArray<Alert> }
    }
    return answer.data.alerts
  }

  /** For a target of the job of nodes, or the address of the other job. */
  async isFiring(name: string, target: Target): Promise<boolean> {
    const instances = [hostOf(target), target.http]
    return (await this.alerts()).some(
      ({ state, labels }) => state === "firing" && labels.alertname === name && instances.includes(labels.instance),
    )
  }

  /** Seconds until this alert fires for this target. */
  async fires(name: string, target: Target): Promise<number> {
    const began = performance.now()
    while (performance.now() - began < PATIENCE_MS) {
      if (await this.isFiring(name, target)) return (performance.now() - began) / 1_000
      await sleep(1_000)
    }
    throw new Error(`${name} did not fire`)
  }

  async end(): Promise<void> {
    this.#process.signal("SIGTERM")
    await this.#process.end()
  }
}

const running: Array<Alarms> = []
const measured: Array<readonly [failure: string, alert: string, seconds: number]> = []

export const endAll = async (): Promise<void> => {
  for (const alarms of running.splice(0)) await alarms.end()
}

/** Waits until the alert fires, and keeps the time for the table. */
export const measure = async (failure: string, alarms: Alarms, alert: string, target: Target): Promise<void> => {
  measured.push([failure, alert, Math.round(await alarms.fires(alert, target))])
}

export const printTable = (): void => {
  const rows = measured.map(([failure, alert, seconds]) => `| ${failure} | \`${alert}\` | ${seconds} s |`)
  process.stderr.write(`\n| failure | alert | from cause to alert |\n| --- | --- | --- |\n${rows.join("\n")}\n`)
}
