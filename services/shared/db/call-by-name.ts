/**
 * A call of a SQL function by the names of its parameters, here without the `p_` that each begins with: order does not
 * matter, and what is left out has its default.
 */
export const callByName = (name: string, parameters: Readonly<Record<string, unknown>>) => {
  const named = Object.keys(parameters).map((parameter, place) => `p_${parameter} => $${place + 1}`)
  return { call: `${name}(${named.join(', ')})`, values: Object.values(parameters) }
}
