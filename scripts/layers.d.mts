/** The lines that name a broken rule in the tree below `root`; empty if there are none. */
export declare const violations: (root: string) => ReadonlyArray<string>
/** A line for each import cycle below `root`. */
export declare const cycles: (root: string) => ReadonlyArray<string>
/** A line for each foreign import of a client below `root`, except in its tests. */
export declare const borrowed: (root: string) => ReadonlyArray<string>
