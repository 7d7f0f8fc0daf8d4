const quote = 0x22
const backslash = 0x5c
/** `,` `[` `{`: each begins one more value. */
const openers: readonly number[] = [0x2c, 0x5b, 0x7b]

/** Where the string that begins at `start` ends; the end of all where it does not. */
const endOfString = (json: Buffer, start: number): number => {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === quote) return at
    if (json[at] === backslash) at += 1
  }
  return json.length
}

/** Whether a JSON text has more than `most` commas, lists and objects, in one pass: parsing costs by these, not by bytes. */
export const isOverstructured = (json: Buffer, most: number): boolean => {
  let count = 0
  for (let at = 0; at < json.length && count <= most; at += 1) {
    const byte = json[at] ?? 0
    if (byte === quote) at = endOfString(json, at)
    else if (openers.includes(byte)) count += 1
  }
  return count > most
}
