import { render } from "preact"
import { App } from "./App.js"
import * as Live from "./live/Live.js"
import * as History from "./route/History.js"
import * as Theme from "./show/Theme.js"

Theme.apply()
History.follow()
Live.start()

const root = document.getElementById("app")
if (root !== null) render(<App />, root)
