/** What stands in records, webhooks and logs for a secret. */
export const mask = '***'

/** Masks the password of an address; one without a password stays as it was written. */
export const maskUrl = (text: string): string => {
  const url = URL.parse(text)
  if (!url?.password) return text
  url.password = mask
  return url.href
}

/** Masks the password and the whole query of an address: webhook receivers often have secrets in it. */
export const maskQuery = (text: string): string => {
  const url = URL.parse(maskUrl(text))
  if (!url?.search) return maskUrl(text)
  url.search = `?${mask}`
  return url.href
}
