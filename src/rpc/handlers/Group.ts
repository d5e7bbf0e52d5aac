/** The groups of this interface. Their handlers may fail with what the services behind them fail with. */

import * as Edge from "../../edge/server/Group.js"
import type * as Definition from "../../effect3/http/Definition.js"
import { Api } from "../api/Api.js"
import * as ServiceErrors from "./ServiceErrors.js"

export type GroupName = Definition.GroupName<typeof Api>

/** The handlers of one group, by the names of its endpoints. */
export type Of<Name extends GroupName> = Edge.Of<typeof Api, Name, typeof ServiceErrors.failures>

export const group = Edge.grouping(Api, ServiceErrors.failures)
