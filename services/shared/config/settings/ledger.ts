/** Settings of ledger alone. */
export const ledgerSettings = {}
