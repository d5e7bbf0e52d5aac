/** What may be meant by the text in the search box: asked for when the typing pauses, the answer to an older text dropped. */
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
        // The frame shows that the node does not answer; Enter searches all the same.
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
