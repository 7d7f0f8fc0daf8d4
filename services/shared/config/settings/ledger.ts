import { admissionSettings } from './gateway.ts'

/** Settings of ledger; it has none of its own. */
export const ledgerSettings = { ...admissionSettings }
