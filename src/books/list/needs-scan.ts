/** The answer of the engine to a query for which it has no index, or not yet. */
export const NEEDS_SCAN = 'needs-scan';
