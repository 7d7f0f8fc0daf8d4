/** Settings of gateway alone. */
export const gatewaySettings = {}
