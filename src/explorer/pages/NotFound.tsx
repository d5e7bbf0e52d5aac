import * as Route from "../route/Route.js"
import { Page } from "../show/Page.js"

export const NotFound = ({ path }: { readonly path: string }) => (
  <Page title="Not found">
    <div class="notice missing">
      <p>
        There is no page at <span class="mono">{path}</span>. Search above, or start at the{" "}
        <a href={Route.overview}>overview</a>.
      </p>
    </div>
  </Page>
)
