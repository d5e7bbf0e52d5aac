/**
 * A metric family: its name, its meaning and how to read it at a scrape, in Prometheus' text format. Hand-written,
 * because the library formats the labels at every change of a value, and changes are many.
 */
import { Histogram } from "../../collections/Histogram.js"

export type Type = "counter" | "gauge" | "histogram"

export interface Sample {
  /** In the order of the family's labels. */
  readonly labels: ReadonlyArray<string>
  readonly value: number | Histogram
}

/** `M`: the measurements for a scrape. */
export interface Family<M> {
  readonly name: string
  readonly type: Type
  readonly help: string
  readonly labels: ReadonlyArray<string>
  readonly read: (measured: M) => ReadonlyArray<Sample>
}

/** One series without labels; none while its value is unknown. */
const single =
  (type: "counter" | "gauge") =>
  <M>(name: string, help: string, read: (measured: M) => number | null): Family<M> => ({
    name,
    type,
    help,
    labels: [],
    read: (measured) => {
      const value = read(measured)
      return value === null ? [] : [{ labels: [], value }]
    },
  })

export const counter = single("counter")
export const gauge = single("gauge")

/** Series distinguished by labels. Each label takes a bounded number of values, none chosen by strangers. */
export const labelled = <M>(
  type: Type,
  name: string,
  help: string,
  labels: ReadonlyArray<string>,
  read: (measured: M) => ReadonlyArray<readonly [...labels: ReadonlyArray<string>, value: number | Histogram]>,
): Family<M> => ({
  name,
  type,
  help,
  labels,
  read: (measured) =>
    read(measured).map((row) => {
      const value = row[labels.length]
      if (value === undefined || typeof value === "string") throw new Error(`${name}: ${row.length} cells in a row`)
      return { labels: row.slice(0, labels.length).map(String), value }
    }),
})

export const histogram = <M>(name: string, help: string, read: (measured: M) => Histogram): Family<M> => ({
  name,
  type: "histogram",
  help,
  labels: [],
  read: (measured) => [{ labels: [], value: read(measured) }],
})

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")

const braced = (pairs: ReadonlyArray<string>): string => (pairs.length === 0 ? "" : `{${pairs.join(",")}}`)

const linesOf = (name: string, pairs: ReadonlyArray<string>, value: number | Histogram): ReadonlyArray<string> => {
  if (!(value instanceof Histogram)) return [`${name}${braced(pairs)} ${value}`]
  const counts = value.cumulative
  return [
    ...counts.map((count, i) => `${name}_bucket${braced([`le="${value.bounds[i] ?? "+Inf"}"`, ...pairs])} ${count}`),
    `${name}_sum${braced(pairs)} ${value.sum}`,
    `${name}_count${braced(pairs)} ${counts.at(-1) ?? 0}`,
  ]
}

const exposedOf = <M>({ name, type, help, labels, read }: Family<M>, measured: M): ReadonlyArray<string> => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...read(measured).flatMap(({ labels: values, value }) =>
    linesOf(
      name,
      values.map((text, i) => `${labels[i] ?? ""}="${escaped(text)}"`),
      value,
    ),
  ),
]

export const expose = <M>(families: ReadonlyArray<Family<M>>, measured: M): string =>
  families.map((family) => `${exposedOf(family, measured).join("\n")}\n`).join("")
