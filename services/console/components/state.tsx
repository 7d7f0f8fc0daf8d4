import type { ComponentChildren } from 'preact'
import { ApiError } from '#console/api/request.ts'
import { texts } from '#console/text/texts.ts'

/** A state of a page or part of it, with what to do about it. */
export const Notice = (props: {
  title: string
  tone?: 'neutral' | 'error'
  children?: ComponentChildren
  actions?: ComponentChildren
}) => {
  const { title, tone = 'neutral', children, actions } = props
  return (
    <div class={`notice ${tone}`} role={tone === 'error' ? 'alert' : undefined}>
      <p class="notice-title">{title}</p>
      {children !== undefined && <div class="notice-text">{children}</div>}
      {actions !== undefined && <div class="row">{actions}</div>}
    </div>
  )
}

/** Shown while something loads. */
export const Loading = () => (
  <p class="loading" role="status">
    {texts.states.loading}
  </p>
)

const titleOf = (error: Error) => {
  if (!(error instanceof ApiError)) return texts.states.error
  if (error.code === 'OFFLINE') return texts.states.offline
  return error.status === 403 ? texts.states.forbidden : texts.states.error
}

/** An error of the API with its message, the messages of its fields and the id that operators search for. */
export const ErrorNotice = ({ error, title, onRetry }: { error: Error; title?: string; onRetry?: () => void }) => {
  const { details, requestId, code } =
    error instanceof ApiError ? error : new ApiError({ ...unknown, message: error.message })
  const fields = Object.entries(details)
  return (
    <Notice
      tone="error"
      title={title ?? titleOf(error)}
      actions={
        onRetry && (
          <button type="button" class="button" onClick={onRetry}>
            {texts.common.retry}
          </button>
        )
      }
    >
      <p>{code === 'OFFLINE' ? texts.states.offlineText : error.message}</p>
      {fields.length > 0 && (
        <ul>
          {fields.map(([field, messages]) => (
            <li key={field}>
              <code>{field}</code> {messages.join(', ')}
            </li>
          ))}
        </ul>
      )}
      {requestId !== undefined && <p class="muted small">{texts.states.requestId(requestId)}</p>}
    </Notice>
  )
}

const unknown = { code: 'UNKNOWN', status: 0 }

/** What a query has: content, nothing yet, or an error. */
type QueryResult<Content> = {
  readonly data: Content | undefined
  readonly error: Error | null
  readonly refetch: () => unknown
}

/** Shows loading, error, forbidden and offline states of a query, else its content. An error keeps older content on the page. */
export const Loaded = <Content,>({
  query,
  missing,
  children,
}: {
  query: QueryResult<Content>
  /** Shown for 404. */
  missing?: string
  children: (content: Content) => ComponentChildren
}) => {
  const { data, error, refetch } = query
  const retry = () => void refetch()
  if (error instanceof ApiError && error.status === 404 && missing !== undefined) return <Notice title={missing} />
  if (data === undefined) return error ? <ErrorNotice error={error} onRetry={retry} /> : <Loading />
  return (
    <>
      {error && <ErrorNotice error={error} onRetry={retry} />}
      {children(data)}
    </>
  )
}
