/** Light, dark, or the system's setting. The choice is stored in this browser. */
import { signal } from "@preact/signals"

const themes = ["system", "light", "dark"] as const
export type Theme = (typeof themes)[number]

const KEY = "udg-theme"

const isTheme = (text: string | null): text is Theme => themes.some((theme) => theme === text)

const stored = (): Theme => {
  const text = localStorage.getItem(KEY)
  return isTheme(text) ? text : "system"
}

export const theme = signal<Theme>(stored())

/** Changes with the colours, for everything that is painted instead of styled. */
export const colours = signal(0)

export const apply = (): void => {
  document.documentElement.dataset["theme"] = theme.value
  colours.value += 1
}

export const next = (): void => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system"
  localStorage.setItem(KEY, theme.value)
  apply()
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply)
