import type { FunctionComponent } from "preact"
import * as Live from "./live/Live.js"
import { useResource } from "./live/Resource.js"
import { Loaded } from "./show/Loaded.js"

/** A page whose code is loaded when it is first opened. */
export const Suspended = ({
  load,
  what,
}: {
  readonly load: () => Promise<FunctionComponent>
  readonly what: string
}) => {
  const page = useResource(what, () => load().then((Content) => ({ Content })), Live.never)
  return (
    <Loaded of={page} what={what}>
      {({ Content }) => <Content />}
    </Loaded>
  )
}
