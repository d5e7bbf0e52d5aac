/** The events that other services see. A write is published only once it is on disk. */

import type { Round } from "../../protocol/numbers/Natural.js"
import type { Output } from "../../replica/output/Output.js"
import type { Write } from "../../replica/output/Write.js"

const PUBLISHED = [
  "Executed",
  "CheckpointBuilt",
  "CheckpointFinal",
  "EpochStarted",
  "ForeignOwnHeader",
  "Joined",
] as const satisfies ReadonlyArray<Write["_tag"]>

export type Published = Extract<Write, { readonly _tag: (typeof PUBLISHED)[number] }>

/** All other writes concern only the disk. */
export const isPublished = (write: Write): write is Published => PUBLISHED.some((tag) => tag === write._tag)

export type NodeEvent =
  | Published
  | Extract<Output, { readonly _tag: "TakenIn" | "Joining" }>
  | { readonly _tag: "RoundReached"; readonly round: Round }
