/** Settings of local alone. */
export const localSettings = {}
