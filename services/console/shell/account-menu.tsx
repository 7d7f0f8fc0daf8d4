import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { servedPath } from '#console/api/base-path.ts'
import { ApiError } from '#console/api/request.ts'
import { sessionPath, useApi } from '#console/api/session.tsx'
import { ErrorNotice } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import { clearHistories } from '#console/views/playground/request-history.ts'
import { AccountItems } from './account-items.tsx'
import { chooseTheme, storedTheme, type Theme } from './theme.ts'

const themes: readonly Theme[] = ['system', 'light', 'dark']
const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/**
 * Ends the session on the server, unless it has ended. Leaving the page forgets what it has shown, the browser what was requested in the
 * playground. Returns the error if it may not have ended.
 */
const useSignOut = () => {
  const api = useApi()
  const [error, setError] = useState<Error>()
  const signOut = async () => {
    try {
      await api(sessionPath, { method: 'DELETE' })
    } catch (thrown) {
      if (!(thrown instanceof ApiError && thrown.status === 401)) return setError(thrown as Error)
    }
    clearHistories(localStorage)
    location.assign(servedPath('/console/sign-in?signed-out'))
  }
  return { error, signOut }
}

/** Moves focus among the items by arrow keys, as menus do. */
const moveFocus = (event: KeyboardEvent) => {
  const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('button')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const step = steps[event.key]
  if (step === undefined) return
  event.preventDefault()
  items.at((at + step) % items.length)?.focus()
}

const ThemeItems = () => {
  const [theme, setTheme] = useState(storedTheme)
  const choose = (each: Theme) => {
    chooseTheme(each)
    setTheme(each)
  }
  return (
    <div role="group" aria-label={texts.shell.theme}>
      {themes.map((each) => (
        <button
          key={each}
          type="button"
          role="menuitemradio"
          aria-checked={each === theme}
          onClick={() => choose(each)}
        >
          {texts.shell.themes[each]}
        </button>
      ))}
    </div>
  )
}

/** The menu of the account: other accounts, colours, and signing out. */
export const AccountMenu = ({ account, detail }: { account: string; detail: string }) => {
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const { error, signOut } = useSignOut()
  useEffect(() => {
    if (isOpen) menu.current?.querySelector('button')?.focus()
  }, [isOpen])
  return (
    <div class="account">
      <button type="button" class="account-button" popovertarget={id} aria-haspopup="menu" aria-expanded={isOpen}>
        <span class="account-name">{account}</span>
        <span class="account-detail">{detail}</span>
        <span class="hidden">{texts.shell.accountMenu}</span>
      </button>
      <div ref={menu} id={id} class="menu" popover="auto" onToggle={({ newState }) => setIsOpen(newState === 'open')}>
        <div role="menu" aria-label={texts.shell.accountMenu} onKeyDown={moveFocus}>
          <AccountItems />
          <ThemeItems />
          <button type="button" role="menuitem" class="separated" onClick={() => void signOut()}>
            {texts.shell.signOut}
          </button>
        </div>
        {error && <ErrorNotice error={error} />}
      </div>
    </div>
  )
}
