import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useSession } from '#console/api/session.tsx'
import { Section } from '#console/components/page.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { Time } from '#console/components/time.tsx'
import { texts } from '#console/text/texts.ts'
import { addToHistory, clearHistory, type PastRequest, readHistory } from './request-history.ts'
import { type Source, sources } from './source-box.tsx'

const words = texts.playground.history

/** The requests from this browser for the current account. */
export const useHistory = () => {
  const accountId = useSession().account?.id ?? ''
  const [requests, setRequests] = useState(() => readHistory(localStorage, accountId))
  return {
    requests,
    add: (request: Omit<PastRequest, 'at'>) =>
      setRequests(addToHistory(localStorage, accountId, { ...request, at: new Date().toISOString() })),
    clear: () => {
      clearHistory(localStorage, accountId)
      setRequests([])
    },
  }
}

const nameOf = ({ source, query }: PastRequest) => {
  const url = source === 'url' ? new URLSearchParams(query).get('url') : null
  return url ?? texts.playground.sourceBoxes[sources.find((each) => each === source) ?? 'html']
}

/** How many parameters a request sets besides its source. */
const countOf = ({ query }: PastRequest) =>
  [...new URLSearchParams(query).keys()].filter((name) => !sources.includes(name as Source)).length

/** The latest requests; each fills the form again, and leads to its capture. */
export const RunHistory = (props: {
  requests: readonly PastRequest[]
  onRestore: (request: PastRequest) => void
  onClear: () => void
}) => {
  const { requests, onRestore, onClear } = props
  if (requests.length === 0) return null
  return (
    <Section
      title={words.title}
      actions={
        <button type="button" class="button" onClick={onClear}>
          {words.clear}
        </button>
      }
    >
      <table>
        <TableHead
          columns={[
            words.request,
            { title: words.set, layout: 'wide number' },
            { title: words.time, layout: 'wide' },
            { title: texts.common.actions, isHidden: true },
          ]}
        />
        <tbody>
          {requests.map((request) => (
            <tr key={request.id}>
              <td class="main-cell">
                <Link href={`/captures/${request.id}`} class="ellipsis">
                  {nameOf(request)}
                </Link>
              </td>
              <td class="wide number">{countOf(request)}</td>
              <td class="wide nowrap">
                <Time at={request.at} />
              </td>
              <td class="number">
                <button
                  type="button"
                  class="button small"
                  aria-label={words.restoreRequest(nameOf(request))}
                  onClick={() => onRestore(request)}
                >
                  {words.restore}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="help">{words.help}</p>
    </Section>
  )
}
