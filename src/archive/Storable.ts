/** Text of PostgreSQL cannot hold this character, which a memo may. The bytes of a transaction have it. */
export const storable = (text: string): string => text.replaceAll("\u0000", "\uFFFD")
