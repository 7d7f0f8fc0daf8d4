import { Link } from 'wouter-preact'
import { servedPath } from '#console/api/base-path.ts'
import { isOperator, useApi, useSession } from '#console/api/session.tsx'
import { Page } from '#console/components/page.tsx'
import { Notice } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'

/** Says on every page which account an operator looks into, and ends that. */
export const ViewedAccount = () => {
  const session = useSession()
  const api = useApi()
  if (!isOperator(session) || !session.account) return null
  const { id, name } = session.account
  const leave = async () => {
    await api('/console/api/operator/view', { method: 'DELETE' })
    // Leaving the page forgets what it has shown of the account.
    location.assign(servedPath(`/console/accounts/${id}`))
  }
  return (
    <aside class="viewed" aria-label={texts.operator.banner(name)}>
      <div>
        <strong>{texts.operator.banner(name)}</strong> {texts.operator.bannerText}
      </div>
      <button type="button" class="button" onClick={leave}>
        {texts.operator.leave}
      </button>
    </aside>
  )
}

/** In place of a page of an account, for an operator who looks into none. */
export const NoAccount = ({ title }: { title: string }) => (
  <Page title={title}>
    <Notice
      title={texts.operator.noAccount}
      actions={
        <Link class="button primary" href="/accounts">
          {texts.operator.chooseAccount}
        </Link>
      }
    >
      {texts.operator.noAccountText}
    </Notice>
  </Page>
)
