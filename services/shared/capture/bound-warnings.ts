/** Most characters of a warning's message. */
export const warningCharactersMax = 500
/** Most warnings of one capture. */
export const warningsMax = 20

type Warning = { readonly code: string; readonly message: string }

/** Warnings as a report holds them: the first twenty, and a message that quotes a page or a request at length is cut off. */
export const boundWarnings = (warnings: readonly Warning[]): Warning[] =>
  warnings.slice(0, warningsMax).map(({ code, message }) => {
    const isLong = message.length > warningCharactersMax
    return { code, message: isLong ? `${message.slice(0, warningCharactersMax - 1)}…` : message }
  })
