/** Most characters of a warning's message. */
export const warningCharactersMax = 500
/** Most warnings of one capture. */
export const warningsMax = 20

type Warning = { readonly code: string; readonly message: string }

/** Bounds warnings for a report: keeps the first twenty, and cuts off long messages, which may quote a page or a request. */
export const boundWarnings = (warnings: readonly Warning[]): Warning[] =>
  warnings.slice(0, warningsMax).map(({ code, message }) => {
    const isLong = message.length > warningCharactersMax
    return { code, message: isLong ? `${message.slice(0, warningCharactersMax - 1)}…` : message }
  })
