import { Page } from '#console/components/page.tsx'
import { Notice } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'

/** Says what is recorded so far, and where. */
export const Activity = () => (
  <Page title={texts.pages.activity}>
    <Notice title={texts.activity.title}>{texts.activity.text}</Notice>
  </Page>
)
