import { expect, it } from "vitest"
import { Histogram } from "../../../src/collections/Histogram.js"
import * as Family from "../../../src/rpc/metrics/Family.js"

it("formats values, labels and distributions for Prometheus and omits series without a known value", () => {
  const times = new Histogram([1, 2])
  for (const value of [0.5, 1, 1.5, 4]) times.add(value)
  const text = Family.expose(
    [
      Family.gauge("room", "Room", () => 5),
      Family.gauge("unknown", "Unknown", () => null),
      Family.labelled("counter", "said_total", "Said", ["who", "what"], () => [["ann", 'a "\\" and\nmore', 2]]),
      Family.histogram("seconds", "Times", () => times),
    ],
    null,
  )
  expect(text).toBe(
    [
      "# HELP room Room",
      "# TYPE room gauge",
      "room 5",
      "# HELP unknown Unknown",
      "# TYPE unknown gauge",
      "# HELP said_total Said",
      "# TYPE said_total counter",
      String.raw`said_total{who="ann",what="a \"\\\" and\nmore"} 2`,
      "# HELP seconds Times",
      "# TYPE seconds histogram",
      'seconds_bucket{le="1"} 2',
      'seconds_bucket{le="2"} 3',
      'seconds_bucket{le="+Inf"} 4',
      "seconds_sum 7",
      "seconds_count 4",
      "",
    ].join("\n"),
  )
})
