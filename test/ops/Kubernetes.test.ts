/** The manifests for Kubernetes fit its schemas and the program, and kustomize renders what each role needs. */
import { spawnSync } from "node:child_process"
import { cpSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { parseAllDocuments } from "yaml"
import * as GatewayCommand from "../../src/cli/GatewayCommand.js"
import * as Setting from "../../src/cli/settings/Setting.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { isTried, options, pathOf, textOf, variables, yamlOf } from "./Kit.js"

/** Of the Go module, at this version, with the definitions of PodMonitor and PrometheusRule. */
const PROMETHEUS_OPERATOR = "github.com/prometheus-operator/prometheus-operator@v0.85.0"

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string }
}

interface Container {
  readonly name: string
  readonly image: string
  readonly args?: ReadonlyArray<string>
  readonly env?: ReadonlyArray<{ readonly name: string; readonly value?: string }>
  readonly ports?: ReadonlyArray<{ readonly name: string; readonly containerPort: number }>
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly startupProbe?: Probe
  readonly resources: { readonly requests: object; readonly limits: { readonly memory: string } }
  readonly securityContext: object
  readonly volumeMounts: ReadonlyArray<{ readonly name: string; readonly readOnly?: boolean }>
}

interface PodSpec {
  readonly enableServiceLinks: boolean
  readonly automountServiceAccountToken: boolean
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: object
  readonly initContainers?: ReadonlyArray<Container>
  readonly containers: ReadonlyArray<Container>
  readonly volumes: ReadonlyArray<{ readonly name: string }>
}

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly replicas: number
    readonly serviceName?: string
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> }
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: PodSpec
    }
    readonly volumeClaimTemplates?: ReadonlyArray<{ readonly metadata: { readonly name: string } }>
    readonly maxUnavailable?: number
    readonly groups?: unknown
  }
}

it("have the rules of Prometheus from the file beside them", () => {
  const { groups } = yamlOf("prometheus/alerts.yml") as { readonly groups: unknown }
  expect(yamlOf("kubernetes/monitoring/rules.yaml")).toMatchObject({ kind: "PrometheusRule", spec: { groups } })
})

it("name every file of their directories, and only existing files", () => {
  for (const role of ["node", "gateway", "monitoring"]) {
    const { resources } = yamlOf(`kubernetes/${role}/kustomization.yaml`) as {
      readonly resources: ReadonlyArray<string>
    }
    const files = readdirSync(pathOf(`kubernetes/${role}`)).filter((name) => name !== "kustomization.yaml")
    expect([role, [...resources].sort()]).toEqual([role, files.sort()])
  }
})

it("need files with secrets, which are neither committed nor packed", () => {
  const folder = TemporaryFolder.forTests("packed")
  const ofExample = ["genesis.json", "validator.key", "archive.env", "gateway.env"].map(
    (name) => `ops/kubernetes/example/${name}`,
  )
  // Not by asking git, since the tests also run in copies without a repository.
  const patterns = textOf("../.gitignore").split("\n")
  for (const kind of ["ops/kubernetes/example/*.env", "ops/kubernetes/example/*.json", "*.key"])
    expect(patterns).toContain(kind)
  cpSync(pathOf("../package.json"), join(folder, "package.json"))
  cpSync(pathOf("kubernetes"), join(folder, "ops/kubernetes"), { recursive: true })
  for (const file of ofExample) writeFileSync(join(folder, file), "secret\n")
  const packed = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    encoding: "utf8",
  })
  const files = (
    JSON.parse(packed.stdout) as ReadonlyArray<{ readonly files: ReadonlyArray<{ readonly path: string }> }>
  )
    .flatMap(({ files }) => files)
    .map(({ path }) => path)
  expect(files).toContain("ops/kubernetes/example/kustomization.yaml")
  expect(files.filter((path) => ofExample.includes(path))).toEqual([])
})

describe.runIf(isTried("kustomize", "version"))("the example, as kustomize renders it", () => {
  const folder = TemporaryFolder.forTests("kubernetes")
  let rendered: string
  let all: ReadonlyArray<Manifest>
  beforeAll(() => {
    cpSync(pathOf("kubernetes"), folder, { recursive: true })
    for (const name of ["genesis.json", "validator.key"]) writeFileSync(join(folder, "example", name), "{}\n")
    for (const name of ["archive.env", "gateway.env"])
      writeFileSync(join(folder, "example", name), "database=postgres://x\n")
    const { status, stdout, stderr } = spawnSync("kustomize", ["build", join(folder, "example")], {
      encoding: "utf8",
    })
    expect(stderr).toBe("")
    expect(status).toBe(0)
    rendered = stdout
    all = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
  })

  const ofKind = (kind: string) => all.filter((manifest) => manifest.kind === kind)
  const workloads = () => [...ofKind("StatefulSet"), ...ofKind("Deployment")]
  const roleOf = ({ metadata: { labels } }: Manifest) => labels["app.kubernetes.io/component"]
  const podOf = (manifest: Manifest) => manifest.spec.template.spec
  const containersOf = (manifest: Manifest) => [
    ...(podOf(manifest).initContainers ?? []),
    ...podOf(manifest).containers,
  ]
  const roles = ["archive", "full-node", "gateway", "validator"]

  const isValidated = isTried("kubectl-validate", "--help") && isTried("go", "version")

  describe.runIf(isValidated)("kubectl-validate", () => {
    let definitions: string
    beforeAll(() => {
      const words = ["mod", "download", "-json", PROMETHEUS_OPERATOR]
      const { status, stdout, stderr } = spawnSync("go", words, { cwd: folder, encoding: "utf8" })
      expect(status, stdout + stderr).toBe(0)
      const { Dir } = JSON.parse(stdout) as { readonly Dir: string }
      definitions = join(Dir, "example/prometheus-operator-crd")
    })

    const validated = (text: string) => {
      const file = join(folder, "rendered.yaml")
      writeFileSync(file, text)
      const words = [file, "--version", "1.30", "--local-crds", definitions]
      const { status, stdout, stderr } = spawnSync("kubectl-validate", words, { encoding: "utf8" })
      return { status, said: stdout + stderr }
    }

    it("accepts it, and the pod that clears a halt", () => {
      for (const text of [rendered, textOf("kubernetes/recover.yaml")]) {
        const { status, said } = validated(text)
        expect(status, said).toBe(0)
      }
    })

    it.each([
      ["a wrong type", "replicas: 1", "replicas: one"],
      ["an unknown field", "terminationGracePeriodSeconds:", "terminationGracePeriod:"],
      ["an unknown field of a PodMonitor", "podMetricsEndpoints:", "podMetricsEndpoint:"],
      ["an unknown field of a rule", "expr: udg_finality_lag", "expression: udg_finality_lag"],
    ])("refuses %s", (_, right, wrong) => {
      expect(rendered).toContain(right)
      const { status, said } = validated(rendered.replace(right, wrong))
      expect(status, said).not.toBe(0)
      expect(said).toContain("Invalid value")
    })
  })

  it("has a workload, a service, a budget and a policy for each role, in one namespace", () => {
    expect(workloads().map(roleOf).sort()).toEqual(roles)
    for (const kind of ["Service", "PodDisruptionBudget", "NetworkPolicy"])
      expect([kind, ofKind(kind).map(roleOf).sort()]).toEqual([kind, roles])
    expect(ofKind("PodMonitor")).toHaveLength(1)
    expect(new Set(all.map(({ metadata }) => metadata.namespace))).toEqual(new Set(["udg"]))
  })

  it("selects its own pods, and no other role's", () => {
    for (const manifest of workloads()) {
      const { selector, template, serviceName } = manifest.spec
      expect(selector.matchLabels).toEqual(template.metadata.labels)
      expect(selector.matchLabels["app.kubernetes.io/component"]).toBe(roleOf(manifest))
      if (serviceName !== undefined)
        expect(ofKind("Service").map(({ metadata }) => metadata.name)).toContain(serviceName)
    }
    const podsOf = new Map(workloads().map((manifest) => [roleOf(manifest), manifest.spec.selector]))
    for (const budget of ofKind("PodDisruptionBudget")) expect(budget.spec.selector).toEqual(podsOf.get(roleOf(budget)))
    // An empty one would select every pod of the namespace.
    for (const policy of ofKind("NetworkPolicy")) expect(policy.spec.podSelector).toEqual(podsOf.get(roleOf(policy)))
  })

  it("runs one validator and one archive, which are updated manually, and several of everything else", () => {
    const replicas = new Map(workloads().map((manifest) => [roleOf(manifest), manifest.spec.replicas]))
    expect(Object.fromEntries(replicas)).toEqual({ validator: 1, archive: 1, "full-node": 2, gateway: 2 })
    const budgets = new Map(ofKind("PodDisruptionBudget").map((budget) => [roleOf(budget), budget.spec.maxUnavailable]))
    expect(Object.fromEntries(budgets)).toEqual({ validator: 0, archive: 0, "full-node": 1, gateway: 1 })
  })

  it("restricts every container like the strictest pod policy", () => {
    for (const manifest of workloads()) {
      expect(podOf(manifest)).toMatchObject({
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      })
      for (const { securityContext, resources } of containersOf(manifest)) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        })
        expect(resources).toMatchObject({ requests: { cpu: expect.anything() }, limits: { memory: expect.anything() } })
      }
    }
  })

  it("clears a validator's halt from a pod with its volume, restricted like it", () => {
    const { spec } = yamlOf("kubernetes/recover.yaml") as { readonly spec: PodSpec & { readonly volumes: unknown } }
    const validator = workloads().find((manifest) => roleOf(manifest) === "validator") as Manifest
    const [claim] = validator.spec.volumeClaimTemplates ?? []
    const claimName = `${claim?.metadata.name}-${validator.metadata.name}-0`
    expect(spec.volumes).toEqual([{ name: "data", persistentVolumeClaim: { claimName } }])
    expect(spec.securityContext).toEqual(podOf(validator).securityContext)
    const [container] = spec.containers
    const [alike] = podOf(validator).containers
    expect([container?.image, container?.securityContext]).toEqual([alike?.image, alike?.securityContext])
    expect(container?.args).toEqual(["recover", "--data-dir", "/data", "--yes"])
  })

  it("routes traffic by /ready, and restarts nothing that only waits for others", () => {
    for (const manifest of workloads()) {
      const [container] = podOf(manifest).containers
      expect(container?.readinessProbe).toMatchObject({ httpGet: { path: "/ready", port: "http" } })
      for (const probe of [container?.livenessProbe, container?.startupProbe])
        if (probe?.httpGet !== undefined) expect(probe.httpGet.path).toBe("/health")
    }
    // A gateway's /health reports its database, for which the gateway must not be restarted.
    expect(podOf(ofKind("Deployment")[0] as Manifest).containers[0]?.livenessProbe).toHaveProperty("tcpSocket")
  })

  it("uses existing options and variables, and the image's own name", () => {
    const ofGateway = new Set(Object.values(GatewayCommand.settings).map((setting) => Setting.variableOf(setting)))
    for (const manifest of workloads()) {
      const [container] = podOf(manifest).containers
      const known = roleOf(manifest) === "gateway" ? ofGateway : new Set([...variables, "UDG_DATABASE"])
      expect((container?.env ?? []).map(({ name }) => name).filter((name) => !known.has(name))).toEqual([])
      const flags = (container?.args ?? []).filter((word) => word.startsWith("--"))
      expect(flags.filter((flag) => !options.has(flag))).toEqual([])
      for (const { image } of containersOf(manifest)) expect(image).toBe("registry.example/udg-node:0.1.0")
    }
  })

  it("mounts existing volumes, and gives a validator's key to its validator alone", () => {
    for (const manifest of workloads()) {
      const { volumes } = podOf(manifest)
      const claimed = (manifest.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name)
      const there = new Set([...volumes.map(({ name }) => name), ...claimed])
      for (const { volumeMounts } of containersOf(manifest))
        expect(volumeMounts.map(({ name }) => name).filter((name) => !there.has(name))).toEqual([])
      expect(JSON.stringify(volumes).includes("udg-validator")).toBe(roleOf(manifest) === "validator")
      expect(
        podOf(manifest).containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name)),
      ).not.toContain("key")
    }
  })

  it("refers to the generated genesis and secrets by their final names", () => {
    const text = JSON.stringify(workloads())
    for (const { metadata } of [...ofKind("Secret"), ...ofKind("ConfigMap")])
      expect(text).toContain(`"${metadata.name}"`)
    expect(text).not.toMatch(/"(?:udg-genesis|udg-validator|udg-archive|udg-gateway)"/)
  })
})
