/** Calls every listener that has not been disposed. */
export const createListeners = <Args extends readonly unknown[]>() => {
  const all = new Set<(...args: Args) => void>()
  return {
    notify: (...args: Args) => {
      for (const listener of all) listener(...args)
    },
    add: (listener: (...args: Args) => void): Disposable => {
      all.add(listener)
      return { [Symbol.dispose]: () => all.delete(listener) }
    },
  }
}
