import { useEffect, useState } from "preact/hooks"
import { DagCanvas } from "../dag/DagCanvas.js"
import { Legend } from "../dag/Legend.js"
import { RoundTable } from "../dag/RoundTable.js"
import { Page, Section } from "../show/Page.js"

const LEAST_HEIGHT = 320
const AROUND_PX = 340

const room = (): number => Math.max(LEAST_HEIGHT, innerHeight - AROUND_PX)

export const Dag = () => {
  const [height, setHeight] = useState(room)
  useEffect(() => {
    const onResize = (): void => setHeight(room())
    addEventListener("resize", onResize)
    return () => removeEventListener("resize", onResize)
  }, [])
  return (
    <Page
      title="The DAG, live"
      about="Rounds run from left to right, and each validator has a lane. Drag to go back, zoom with the wheel or two fingers, open a vertex with a click."
    >
      <Section title="Picture" class="wide bare">
        <DagCanvas height={height} isLarge />
        <Legend />
      </Section>
      <Section title="Rounds">
        <RoundTable count={20} />
      </Section>
    </Page>
  )
}
