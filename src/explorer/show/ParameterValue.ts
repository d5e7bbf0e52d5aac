/** Parameter values in units that people use; the unit follows from the parameter's name. Pure. */
import * as Words from "./Words.js"

export type Unit = "coins" | "percent" | "rounds" | "count"

export const unitOf = (name: string): Unit => {
  if (name.endsWith("_sats")) return "coins"
  if (name.endsWith("_percent")) return "percent"
  return name.endsWith("_rounds") ? "rounds" : "count"
}

export const written = (name: string, value: number): string => {
  switch (unitOf(name)) {
    case "coins":
      return `${Words.coins(value)} UDG`
    case "percent":
      return `${value} %`
    case "rounds":
      return Words.counted(value, "round")
    case "count":
      return Words.count(value)
  }
}
