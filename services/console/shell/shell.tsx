import { useEffect, useRef } from 'preact/hooks'
import { Link, Route, Switch, useLocation } from 'wouter-preact'
import { servedPath } from '#console/api/base-path.ts'
import { isOperator, useSession } from '#console/api/session.tsx'
import { Page } from '#console/components/page.tsx'
import { texts } from '#console/text/texts.ts'
import { AccountMenu } from './account-menu.tsx'
import { CommandPalette } from './command-palette.tsx'
import { NoAccount, ViewedAccount } from './viewed-account.tsx'
import { operatorPages, operatorViews, pages, views } from './views.tsx'

const isWithin = (path: string, page: string) => path === page || (page !== '/' && path.startsWith(`${page}/`))

const Links = ({ of, label }: { of: readonly { readonly path: string; readonly title: string }[]; label?: string }) => {
  const [path] = useLocation()
  return (
    <ul {...(label !== undefined && { 'aria-label': label })}>
      {of.map((page) => (
        <li key={page.path}>
          <Link href={page.path} {...(isWithin(path, page.path) && { 'aria-current': 'page' })}>
            {page.title}
          </Link>
        </li>
      ))}
    </ul>
  )
}

const Navigation = () => {
  const [path] = useLocation()
  const session = useSession()
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    // On narrow screens the links scroll.
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <nav class="nav" aria-label={texts.shell.navigation} ref={list}>
      <Links of={pages} />
      {isOperator(session) && <Links of={operatorPages} label={texts.operator.group} />}
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

/** The view of the current path. Pages of an account need one, but for the settings, which have the sessions. */
const Views = () => {
  const session = useSession()
  const [path] = useLocation()
  const isOperated = isOperator(session)
  const title = pages.find((page) => isWithin(path, page.path))?.title ?? texts.product
  return (
    <Switch>
      {views.map(([each, View]) => (
        <Route key={each} path={each}>
          {session.account || each === '/settings' ? <View /> : <NoAccount title={title} />}
        </Route>
      ))}
      {isOperated &&
        operatorViews.map(([each, View]) => (
          <Route key={each} path={each}>
            <View />
          </Route>
        ))}
      <Route>
        <NotFound />
      </Route>
    </Switch>
  )
}

/** Navigation, account menu, and the view of the current path. */
export const Shell = () => {
  const session = useSession()
  const { account, role } = session
  const detail = [...(account ? [account.plan] : []), texts.shell.roles[role]].join(' · ')
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
          <a class="side-link" href={servedPath('/v1/docs')}>
            {texts.shell.reference}
          </a>
          <AccountMenu account={account?.name ?? texts.operator.name} detail={detail} />
        </div>
      </header>
      <main id="content" class="content" tabIndex={-1} ref={content}>
        <ViewedAccount />
        <Views />
      </main>
    </div>
  )
}
