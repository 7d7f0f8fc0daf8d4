/** Settings of controller alone. */
export const controllerSettings = {}
