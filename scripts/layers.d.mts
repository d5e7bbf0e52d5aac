/** The lines that name a broken arrow in the tree below `root`; empty when the house stands. */
export declare const violations: (root: string) => ReadonlyArray<string>
