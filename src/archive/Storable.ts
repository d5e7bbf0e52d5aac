/** PostgreSQL's text cannot hold this character, but a memo can. The transaction's bytes keep it. */
export const storable = (text: string): string => text.replaceAll("\u0000", "\uFFFD")
