/**
 * A Prometheus with the shipped rules, which watches real processes; and the time from each failure to its alert, printed
 * after a file's tests.
 */
import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { Running } from "../blackbox/Running.js"
import { isTried, pathOf, yamlOf } from "../ops/Kit.js"

/** For a test. */
export const LIMIT_MS = 1_500_000
/** For an alert. */
export const PATIENCE_MS = 1_200_000

export const isInstalled = (): boolean => isTried("prometheus", "--version")

const freePort = (): Promise<number> =>
  new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => found(address !== null && typeof address === "object" ? address.port : 0))
    })
  })

/** Something with metrics. */
export interface Target {
  readonly http: string | null
}

const hostOf = ({ http }: Target): string => new URL(http ?? "").host

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

  /** `rules` is a file, by default the shipped one. */
  static async start(
    folder: string,
    targets: ReadonlyArray<Target>,
    rules = pathOf("prometheus/alerts.yml"),
  ): Promise<Alarms> {
    const shipped = yamlOf("prometheus/prometheus.yml") as { readonly global: object }
    const configuration = {
      global: shipped.global,
      rule_files: [rules],
      scrape_configs: [{ job_name: "udg", static_configs: [{ targets: targets.map(hostOf) }] }],
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

  async isFiring(name: string, target: Target): Promise<boolean> {
    return (await this.alerts()).some(
      ({ state, labels }) => state === "firing" && labels.alertname === name && labels.instance === hostOf(target),
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
