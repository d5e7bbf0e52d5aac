/** Uses the wallet's page as a person does. */
import type { Page } from "playwright-core"

export const PASSPHRASE = "correct horse battery"

export const makeKey = async (page: Page): Promise<void> => {
  await page.getByLabel("Passphrase", { exact: true }).first().fill(PASSPHRASE)
  await page.getByLabel("Passphrase again").first().fill(PASSPHRASE)
  await page.getByRole("button", { name: "Make a key" }).click()
  await page.getByRole("button", { name: "Lock" }).waitFor()
}

export const bringKey = async (page: Page, hex: string): Promise<void> => {
  await page.getByLabel("Secret key, 64 hex characters").fill(hex)
  await page.getByLabel("Passphrase", { exact: true }).last().fill(PASSPHRASE)
  await page.getByLabel("Passphrase again").last().fill(PASSPHRASE)
  await page.getByRole("button", { name: "Import the key" }).click()
  await page.getByRole("button", { name: "Lock" }).waitFor()
}

/** Deletes the key of a locked wallet. */
export const forget = async (page: Page): Promise<void> => {
  await page.getByText("Delete 1 key…").click()
  await page.getByRole("button", { name: "Delete 1 key" }).click()
}

export const act = async (page: Page, action: string, typed: Readonly<Record<string, string>>): Promise<void> => {
  await page.getByRole("button", { name: action, exact: true }).click()
  const form = page.getByRole("form", { name: action })
  for (const [label, value] of Object.entries(typed)) {
    const field = form.getByLabel(label)
    if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption(value)
    else await field.fill(value)
  }
  await form.getByRole("button", { name: "Review" }).click()
  await form.getByRole("button", { name: "Send it" }).click()
}

export const finalized = (page: Page, what: string): Promise<void> =>
  page.locator(".receipt", { hasText: what }).getByText("finalized").waitFor()
