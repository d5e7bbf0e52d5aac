import type { ComponentChildren, FunctionComponent } from "preact"
import * as Live from "../live/Live.js"
import { useResource } from "../live/Resource.js"
import { Loaded } from "./Loaded.js"

interface Props<P> {
  readonly load: () => Promise<FunctionComponent<P>>
  readonly what: string
  readonly children: (content: FunctionComponent<P>) => ComponentChildren
}

/** Code that is loaded when it is first shown. */
export function Suspended<P>({ load, what, children }: Props<P>) {
  const code = useResource(what, () => load().then((Content) => ({ Content })), Live.never)
  return (
    <Loaded of={code} what={what}>
      {({ Content }) => children(Content)}
    </Loaded>
  )
}
