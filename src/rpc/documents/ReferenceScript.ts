/**
 * The reference's only script: search, this node's own address in every `curl` line, and sending requests from the
 * page. The page is complete without it. Inline, so that a policy can name it by its hash.
 */
export const SCRIPT = `
const all = (selector, within = document) => [...within.querySelectorAll(selector)]
const shellQuoted = (text) => "'" + text.replaceAll("'", "'\\\\''") + "'"

const requestOf = (box) => {
  let path = box.dataset.path
  const query = []
  for (const input of all("input", box)) {
    const value = input.value.trim()
    if (input.dataset.in === "path") path = path.replace("{" + input.name + "}", encodeURIComponent(value).replace("%40", "@"))
    else if (value !== "") query.push(input.name + "=" + encodeURIComponent(value))
  }
  const url = location.origin + path + (query.length === 0 ? "" : "?" + query.join("&"))
  const body = box.querySelector("textarea")
  return { method: box.dataset.method, url, body: body === null ? undefined : body.value }
}

const showCurl = (box) => {
  const { method, url, body } = requestOf(box)
  const rest = body === undefined ? "" : " -X " + method + " -H 'Content-Type: application/json' -d " + shellQuoted(body)
  box.querySelector(".curl").textContent = "curl " + shellQuoted(url) + rest
}

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const send = async (box) => {
  const { method, url, body } = requestOf(box)
  const answer = box.querySelector(".answer")
  answer.hidden = false
  answer.textContent = "…"
  try {
    const headers = body === undefined ? {} : { "Content-Type": "application/json" }
    const response = await fetch(url, { method, headers, body })
    answer.textContent = response.status + " " + response.statusText + "\\n" + pretty(await response.text())
  } catch (error) {
    answer.textContent = "no answer: " + error.message
  }
}

for (const box of all(".try")) {
  showCurl(box)
  box.addEventListener("input", () => showCurl(box))
  const button = box.querySelector("button")
  if (button !== null) {
    button.hidden = false
    button.addEventListener("click", () => send(box))
  }
}

const search = document.querySelector("#search")
search.hidden = false
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\\s+/).filter((word) => word !== "")
  for (const entry of all("main > details")) {
    const text = entry.textContent.toLowerCase()
    entry.hidden = !words.every((word) => text.includes(word))
  }
  for (const title of all("main > h2, main > .about")) title.hidden = words.length > 0
})

const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (target !== null && target.tagName === "DETAILS") target.open = true
}
addEventListener("hashchange", openTarget)
openTarget()

// Addresses and hashes that this node knows, in place of made-up ones.
const fill = (name, paths, value) => {
  for (const input of all('input[name="' + name + '"]')) {
    if (value !== undefined && paths.test(input.closest(".try").dataset.path)) input.value = value
  }
  for (const box of all(".try")) showCurl(box)
}
const known = async (path) => (await fetch(path)).json()
known("/validators").then(({ validators }) => fill("address", /./, validators[0]?.address), () => undefined)
known("/transactions?limit=1").then(({ transactions }) => {
  fill("hash", /^\\/tx\\//, transactions[0]?.hash)
  fill("hash", /^\\/vertex\\//, transactions[0]?.vertex_hash)
}, () => undefined)
`
