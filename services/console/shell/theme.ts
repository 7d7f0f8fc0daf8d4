const storageKey = 'shutterfleet-theme'

/** The colours of the console: those of the system, or chosen ones. */
export type Theme = 'system' | 'light' | 'dark'

/** The choice of this browser. */
export const storedTheme = (): Theme => {
  const stored = localStorage.getItem(storageKey)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

/** Shows the console in these colours. */
export const applyTheme = (theme: Theme): void => {
  document.documentElement.dataset['theme'] = theme
}

/** Shows the console in these colours, now and later. */
export const chooseTheme = (theme: Theme): void => {
  localStorage.setItem(storageKey, theme)
  applyTheme(theme)
}
