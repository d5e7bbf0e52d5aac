/** The lines that name a broken arrow in the tree below `root`; empty when the house stands. */
export declare const violations: (root: string) => ReadonlyArray<string>
/** A line for every cycle of imports below `root`. */
export declare const cycles: (root: string) => ReadonlyArray<string>
/** A line for everything that a client below `root`, apart from its tests, takes from elsewhere. */
export declare const borrowed: (root: string) => ReadonlyArray<string>
