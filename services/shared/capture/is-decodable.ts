/** Whether a part of an address decodes: it is percent-encoded UTF-8, or not encoded at all. */
export const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
