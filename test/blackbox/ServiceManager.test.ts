/** What the node reports to systemd. A fake `systemd-notify` records its arguments. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { beforeEach, describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { program, Running } from "./Running.js"

let folder: string
beforeEach(() => {
  folder = TemporaryFolder.forTest("notify")
})

const said = (): ReadonlyArray<string> => {
  const file = join(folder, "said")
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : []
}

const start = (script: string, variables: Readonly<Record<string, string>>) => {
  writeFileSync(join(folder, "systemd-notify"), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const options = ["--ephemeral", "--host", "127.0.0.1", "--port", "0"]
  const path = `${folder}${delimiter}${process.env["PATH"] ?? ""}`
  return new Running(process.execPath, [program, ...options], { PATH: path, ...variables })
}

const ending = async (node: Running) => {
  expect((await node.stop()).code).toBe(0)
}

const WRITES = 'echo "$NOTIFY_SOCKET $*" >> "$(dirname "$0")/said"'

describe("a node under systemd", () => {
  it("reports that it is ready once it serves, and then three times per watchdog period while it advances", async () => {
    const node = start(WRITES, { NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "300000" })
    await node.until(() => said().length > 3)
    const told = said().map((line) => line.replace(/ STATUS=.*/, ""))
    expect(told.slice(0, 3)).toEqual(["/run/notify READY=1", "/run/notify WATCHDOG=1", "/run/notify WATCHDOG=1"])
    // With the state of GET /ready, for people.
    await node.until(() => said().at(-1) === "/run/notify WATCHDOG=1 STATUS=ready")
    expect(node.stdout).toContain("rpc")
    await ending(node)
  })

  it(Rest.of("one more start", "only reports that it is ready if no watchdog is set"), async () => {
    const node = start(WRITES, { NOTIFY_SOCKET: "/run/notify" })
    await node.until(() => said().length > 0)
    await ending(node)
    expect(said()).toEqual([expect.stringMatching(/^\/run\/notify READY=1 STATUS=/)])
  })

  it(Rest.of("one more start", "logs once why systemd cannot be notified, and continues"), async () => {
    const node = start("echo no socket >&2; exit 1", { NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "30000" })
    await node.until(() => node.stderr.includes("systemd did not get READY=1"))
    expect(node.stderr).toContain("no socket")
    await new Promise((resolve) => setTimeout(resolve, 300))
    await ending(node)
    expect(node.stderr.match(/systemd did not get/g)).toHaveLength(1)
  })

  it("sends no notification without systemd", async () => {
    const node = start(WRITES, {})
    await node.until(() => node.stdout.includes("rpc"))
    await ending(node)
    expect(said()).toEqual([])
  })
})
