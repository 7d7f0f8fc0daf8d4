import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import type { ApiKey, Link } from '#client/responses.js'
import { useApi, useMayChange } from '#console/api/session.tsx'
import { CopyButton } from '#console/components/copy-field.tsx'
import { Field } from '#console/components/field.tsx'
import { ErrorNotice, Loaded } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import type { Parameters } from './form.ts'

/** An image element with a link, in which `&` separates the parameters. */
const elementOf = (url: string) => `<img src="${url.replaceAll('&', '&amp;')}" alt="">`

/** Has the service sign a link with the link secret of a key; changed parameters need a new signature. */
const SignedElement = ({ keys, parameters }: { keys: readonly ApiKey[]; parameters: Parameters }) => {
  const api = useApi()
  const [keyId, setKeyId] = useState(keys[0]?.id ?? '')
  const [signed, setSigned] = useState<{ url: string; parameters: Parameters; keyId: string }>()
  const [error, setError] = useState<Error>()
  const sign = async (event: Event) => {
    event.preventDefault()
    setError(undefined)
    try {
      const { data } = await api<{ data: Link }>(`/v1/keys/${keyId}/links`, { method: 'POST', body: { parameters } })
      setSigned({ url: data.url, parameters, keyId })
    } catch (caught) {
      setError(caught as Error)
    }
  }
  const isCurrent = signed?.keyId === keyId && JSON.stringify(signed.parameters) === JSON.stringify(parameters)
  return (
    <form class="stack" onSubmit={sign}>
      <Field label={texts.playground.linkKey} help={texts.playground.linkKeyHelp}>
        {(ids) => (
          <select {...ids} value={keyId} onChange={(event) => setKeyId(event.currentTarget.value)}>
            {keys.map(({ id, name, prefix }) => (
              <option key={id} value={id}>
                {name === '' ? prefix : name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div class="row">
        <button type="submit" class="button">
          {texts.playground.signLink}
        </button>
        {signed && isCurrent && <CopyButton text={elementOf(signed.url)} />}
      </div>
      {error && <ErrorNotice error={error} />}
      {signed && isCurrent && (
        <pre class="code" tabIndex={0} role="region" aria-label={texts.playground.imageLink}>
          {elementOf(signed.url)}
        </pre>
      )}
    </form>
  )
}

/** An image element that captures when it is viewed, for a page or an e-mail. */
export const ImageLink = ({ parameters }: { parameters: Parameters }) => {
  const api = useApi()
  const mayChange = useMayChange()
  const query = useQuery({ queryKey: ['keys', 'of links'], queryFn: () => api<{ data: ApiKey[] }>('/v1/keys') })
  if (!mayChange) return <p class="help">{texts.playground.linkViewer}</p>
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <p class="help">{texts.playground.linkNoKey}</p>
        ) : (
          <SignedElement keys={data} parameters={parameters} />
        )
      }
    </Loaded>
  )
}
