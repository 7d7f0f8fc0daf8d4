/** Header with which a client of the egress filter sends its token (RFC 9110 §11.7.2, RFC 6750 §2.1); never passed on. */
export const egressTokenHeader = 'Proxy-Authorization'

/** The value of that header. */
export const egressTokenValue = (token: string): string => `Bearer ${token}`

/** The header that a client sends; none if the token is ''. */
export const egressTokenHeaders = (token: string): Readonly<Record<string, string>> =>
  token === '' ? {} : { [egressTokenHeader]: egressTokenValue(token) }
