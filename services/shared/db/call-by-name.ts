/**
 * Builds a call of a SQL function with named parameters, given here without their `p_` prefix: order does not matter,
 * and omitted parameters have their default.
 */
export const callByName = (name: string, parameters: Readonly<Record<string, unknown>>) => {
  const named = Object.keys(parameters).map((parameter, index) => `p_${parameter} => $${index + 1}`)
  return { call: `${name}(${named.join(', ')})`, values: Object.values(parameters) }
}
