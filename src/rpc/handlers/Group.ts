/** The groups of this interface. Their handlers can fail with the errors of the services behind them. */

import * as Edge from "../../edge/server/Group.js"
import type * as Definition from "../../effect3/http/Definition.js"
import { Api } from "../api/Api.js"
import * as ServiceErrors from "./ServiceErrors.js"

export type GroupName = Definition.GroupName<typeof Api>

/** The handlers of one group, by endpoint name. */
export type Of<Name extends GroupName> = Edge.Of<typeof Api, Name, typeof ServiceErrors.failures>

export const group = Edge.grouping(Api, ServiceErrors.failures)
