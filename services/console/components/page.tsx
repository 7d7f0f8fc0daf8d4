import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { texts } from '#console/text/texts.ts'

/** A page with its only `h1`, which is the title of the window too. */
export const Page = (props: { title: string; actions?: ComponentChildren; children: ComponentChildren }) => {
  const { title, actions, children } = props
  useEffect(() => {
    document.title = `${title} · ${texts.product}`
  }, [title])
  return (
    <>
      <div class="page-head">
        <h1>{title}</h1>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </>
  )
}

/** A part of a page with its heading. */
export const Section = (props: { title: string; actions?: ComponentChildren; children: ComponentChildren }) => {
  const { title, actions, children } = props
  return (
    <section class="section">
      <div class="section-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  )
}
