/** Suggestions for the search box, requested when typing pauses; responses to an older text are dropped. */
import { useEffect, useState } from "preact/hooks"
import { known } from "./Questions.js"
import * as Search from "./Search.js"

const PAUSE_MS = 150

export const useSuggestions = (text: string): ReadonlyArray<Search.Match> => {
  const [suggestions, setSuggestions] = useState<ReadonlyArray<Search.Match>>([])
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(() => {
      Search.suggest(text, known).then(
        (found) => {
          if (isCurrent) setSuggestions(found)
        },
        // The frame shows that the node does not answer; Enter still searches.
        () => undefined,
      )
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  return text.trim() === "" ? [] : suggestions
}
