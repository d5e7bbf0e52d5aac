/** Pages that are made from the code. */
import * as NodeCommand from "../../src/cli/NodeCommand.js"
import * as Help from "../../src/cli/settings/Help.js"
import * as Udg from "../../src/cli/Udg.js"
import * as OpenApiDocument from "../../src/rpc/documents/OpenApiDocument.js"
import * as Reference from "../../src/rpc/documents/Reference.js"
import * as ReferenceText from "../../src/rpc/documents/ReferenceText.js"
import * as Catalogue from "../../src/rpc/metrics/Catalogue.js"
import { COMMANDS, ENDPOINTS, METRICS } from "./Contents.js"
import * as Markdown from "./Markdown.js"

/** Every help page, as `udg help` shows it. */
export const commands = async (version: string): Promise<Markdown.Page> => {
  const help = (command: { readonly page: (version: string) => Help.Page }): string =>
    `\`\`\`text\n${Help.render(command.page(version), false)}\n\`\`\`\n`
  const all = await Udg.commands()
  return Markdown.page(
    COMMANDS,
    [
      "# Commands",
      "What `udg help COMMAND` shows. [The wallet on the command line](cli.md) shows the wallet's verbs at work,",
      "and [configuration](configuration.md) explains the node's options.\n",
      `## udg\n\n${help(NodeCommand.command)}`,
      ...all.map((command) => `## udg ${command.name}\n\n${help(command)}`),
    ].join("\n"),
  )
}

/** The API reference of `/docs` on a node, without the parts that send requests. */
export const endpoints = (document: OpenApiDocument.Document): Markdown.Page => {
  const intro = Markdown.page(
    ENDPOINTS,
    [
      "# API reference",
      "Every endpoint, made from the OpenAPI document ([openapi.json](openapi.json)). A running node serves the same at",
      "`/docs`, where you can try each one. [The HTTP API](api.md) is the guide to it.",
    ].join("\n"),
  )
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      depth: 4,
      text: `${method.toUpperCase()} ${path}`,
      anchor: operation.operationId,
      words: [operation.summary ?? "", operation.description ?? ""].join(" ").replaceAll("`", ""),
    })),
  )
  const groups = [...document.tags.map(({ name }) => name), "Schemas"]
  const parts = groups.map((name) => ({ depth: 2, text: name, anchor: name, words: "" }))
  return {
    ...intro,
    // The site has its own page of error codes beside this one.
    html: intro.html + Reference.content(document).replaceAll(`"${OpenApiDocument.ERRORS}#`, '"errors.html#'),
    source: ReferenceText.text(document),
    sections: [...intro.sections, ...parts, ...operations],
  }
}

/** All series with their descriptions in `/metrics`. */
export const metrics = (): Markdown.Page => {
  const lines = [...Catalogue.all, ...Catalogue.ofGatewayAlone].map(({ name, type, labels, help }) => {
    const by = labels.length === 0 ? "" : ` by ${labels.map((label) => `\`${label}\``).join(", ")}`
    return `- \`${name}\` (${type}${by}): ${help}`
  })
  return Markdown.page(
    METRICS,
    [
      "# Metrics",
      "Every series of `GET /metrics`, made from the catalogue of the program.",
      "[Monitoring](operations/monitoring.md) shows how to use them.\n",
      ...lines,
    ].join("\n"),
  )
}

/** A page that lists the files of a folder. */
export const listing = (
  folder: string,
  title: string,
  about: string,
  entries: ReadonlyArray<readonly [file: string, title: string]>,
): Markdown.Page => {
  const name = folder.split("/").at(-1) ?? ""
  const rows = entries.map(([file, text]) => `- [${text}](${name}/${file})`)
  return Markdown.page(folder, [`# ${title}\n`, `${about}\n`, ...rows].join("\n"))
}

/** A file that is not a page, shown as text. */
export const source = (file: string, text: string): Markdown.Page => ({
  title: file,
  html: `<h1 id="file">${Markdown.escaped(file)}</h1><pre tabindex="0"><code>${Markdown.escaped(text)}</code></pre>`,
  sections: [],
  targets: [],
})
