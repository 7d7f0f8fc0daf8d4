/** A price, times a whole number from 0, as an exact decimal with as many decimals as the price. Both stand in plain digits. */
export const timesExactly = (price: string, times: number): string => {
  const [whole = '', fraction = ''] = price.split('.')
  const digits = String(BigInt(whole + fraction) * BigInt(times)).padStart(fraction.length + 1, '0')
  if (fraction === '') return digits
  return `${digits.slice(0, -fraction.length)}.${digits.slice(-fraction.length)}`
}
