/** Suggestions for the search box, requested when typing pauses; responses to an older text are dropped. */
import { useComputed } from "@preact/signals"
import { useEffect, useState } from "preact/hooks"
import * as Live from "../live/Live.js"
import { known } from "./Questions.js"
import * as Search from "./Search.js"

const PAUSE_MS = 150

interface Suggested {
  readonly text: string
  readonly found: ReadonlyArray<Search.Match>
}

export const useSuggestions = (text: string): ReadonlyArray<Search.Match> => {
  const [suggested, setSuggested] = useState<Suggested>({ text: "", found: [] })
  // Rounds are suggested up to the newest, which a page that has just opened does not know yet.
  const knowsNewest = useComputed(() => Live.head.value !== undefined).value
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(() => {
      Search.suggest(text, known).then(
        (found) => {
          if (isCurrent) setSuggested({ text, found })
        },
        // The frame shows that the node does not answer; Enter still searches.
        () => undefined,
      )
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text, knowsNewest])
  return suggested.text === text ? suggested.found : []
}
