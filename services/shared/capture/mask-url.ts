/** Replaces a secret in records, webhooks and logs. */
export const mask = '***'

/** Masks the password of an address; an address without a password is returned unchanged. */
export const maskUrl = (text: string): string => {
  const url = URL.parse(text)
  if (!url?.password) return text
  url.password = mask
  return url.href
}

/** Masks the password and the whole query of an address: queries of webhook addresses often contain secrets. */
export const maskQuery = (text: string): string => {
  const url = URL.parse(maskUrl(text))
  if (!url?.search) return maskUrl(text)
  url.search = `?${mask}`
  return url.href
}
