/** Packages with native code, which may not be built, or be built for another Node.js or another machine. */

export const complaint = (name: string, purpose: string, reason: string): string => {
  const [first = ""] = reason.split("\n")
  return (
    `${name}, which ${purpose}, cannot be loaded by this version of Node.js (${first}); run npm rebuild ${name} ` +
    "where udg is installed, or start udg with the version that it was installed with"
  )
}

export class NotLoaded extends Error {
  /** By which the program's first file knows it. */
  override readonly name = "NativeModuleNotLoaded"
}
