import { Effect } from "effect"
import * as Given from "../support/Given.js"
import * as world from "./world.js"

export const given = Given.on(world.platform)

/** A test with the platform of a node. */
export const withPlatform = given(Effect.void)

/** A test with an empty directory for a node. */
export const withDirectory = given(world.temporaryDirectory)
