import { useEffect, useRef } from 'preact/hooks'
import { Link, Route, Switch, useLocation } from 'wouter-preact'
import { useSession } from '#console/api/session.tsx'
import { Page } from '#console/components/page.tsx'
import { texts } from '#console/text/texts.ts'
import { AccountMenu } from './account-menu.tsx'
import { CommandPalette } from './command-palette.tsx'
import { pages, views } from './views.tsx'

const isWithin = (path: string, page: string) => path === page || (page !== '/' && path.startsWith(`${page}/`))

const Navigation = () => {
  const [path] = useLocation()
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    // On narrow screens the links scroll.
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <nav class="nav" aria-label={texts.shell.navigation} ref={list}>
      <ul>
        {pages.map((page) => (
          <li key={page.path}>
            <Link href={page.path} {...(isWithin(path, page.path) && { 'aria-current': 'page' })}>
              {page.title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const NotFound = () => (
  <Page title={texts.shell.notFound}>
    <p>{texts.shell.notFoundText}</p>
  </Page>
)

/** Moves focus to the content after a navigation, so that keyboards and screen readers begin there. */
const useFocusedContent = () => {
  const [path] = useLocation()
  const content = useRef<HTMLElement>(null)
  const shown = useRef(path)
  useEffect(() => {
    if (shown.current === path) return
    shown.current = path
    content.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [path])
  return content
}

/** Navigation, account menu, and the view of the current path. */
export const Shell = () => {
  const { account, role } = useSession()
  const content = useFocusedContent()
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={() => content.current?.focus()}>
        {texts.shell.skip}
      </a>
      <header class="side">
        <div class="brand">
          <span class="mark" aria-hidden="true" />
          {texts.product}
        </div>
        <Navigation />
        <div class="side-foot">
          <CommandPalette />
          <a class="side-link" href="/v1/docs">
            {texts.shell.reference}
          </a>
          <AccountMenu account={account.name} detail={`${account.plan} · ${texts.shell.roles[role]}`} />
        </div>
      </header>
      <main id="content" class="content" tabIndex={-1} ref={content}>
        <Switch>
          {views.map(([path, View]) => (
            <Route key={path} path={path}>
              <View />
            </Route>
          ))}
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </main>
    </div>
  )
}
