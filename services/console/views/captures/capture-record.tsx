import type { Screenshot } from '#client/responses.js'
import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { Link, useLocation, useParams } from 'wouter-preact'
import { useEvents } from '#console/api/events.ts'
import { imagePath, isOpen } from '#console/api/records.ts'
import { useApi, useMayChange } from '#console/api/session.tsx'
import { CaptureFailure, CaptureWarnings } from '#console/components/capture-outcome.tsx'
import { captureName } from '#console/components/capture-table.tsx'
import { CopyField } from '#console/components/copy-field.tsx'
import { ConfirmDialog, Dialog } from '#console/components/dialog.tsx'
import { FileResult, fileFormat } from '#console/components/file-result.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { StageBar } from '#console/components/stage-bar.tsx'
import { Deliveries } from '#console/components/deliveries.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { formatBytes } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import { CaptureFacts, ParameterFacts } from './capture-facts.tsx'
import { PageLogSections } from './page-log-sections.tsx'
import { repeatPath } from './repeat-path.ts'

const linkSeconds = 3600

const Picture = ({ capture }: { capture: Screenshot }) => {
  const [isActual, setIsActual] = useState(false)
  const format = fileFormat(capture)
  if (format !== undefined) return <FileResult id={capture.id} format={format} />
  const path = imagePath(capture.id)
  return (
    <div class="stack">
      <div class="row end">
        <button type="button" class="button" aria-pressed={isActual} onClick={() => setIsActual(!isActual)}>
          {texts.record.actualSize}
        </button>
      </div>
      {/* Scrolls at actual size, so that it needs focus. */}
      <div class={`picture ${isActual ? 'actual' : ''}`} tabIndex={0} role="region" aria-label={texts.record.picture}>
        <img src={path} alt={texts.record.picture} width={capture.width} height={capture.height} />
      </div>
    </div>
  )
}

const Outcome = ({ capture }: { capture: Screenshot }) => {
  if (capture.error) return <CaptureFailure error={capture.error} />
  if (isOpen(capture)) return <Notice title={texts.captures.statuses[capture.status]}>{texts.record.notYet}</Notice>
  const isExpired = capture.expires_at !== undefined && Date.parse(capture.expires_at) < Date.now()
  return isExpired ? <Notice title={texts.record.expired} /> : <Picture capture={capture} />
}

const Files = ({ capture: { outputs = [], renditions = [] } }: { capture: Screenshot }) => {
  const files = [
    ...outputs.map(({ name, url, file_size }) => ({ name, url, file_size })),
    ...renditions.map(({ url, file_size, width, height }) => ({ name: `${width} × ${height} px`, url, file_size })),
  ]
  if (files.length === 0) return null
  return (
    <Section title={texts.record.files}>
      <ul class="plain">
        {files.map(({ name, url, file_size }) => (
          <li key={url}>
            <a href={new URL(url).pathname}>{name}</a> <span class="muted">{formatBytes(file_size)}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const SignedLink = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const api = useApi()
  const query = useQuery({
    queryKey: ['signed-url', id],
    queryFn: () =>
      api<{ data: { url: string } }>(`/v1/screenshots/${id}/signed-url`, {
        method: 'POST',
        body: { expires_in: linkSeconds },
      }),
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <Dialog title={texts.record.link} onClose={onClose}>
      <p>{texts.record.linkText}</p>
      <Loaded query={query}>{({ data }) => <CopyField label={texts.record.link} text={data.url} />}</Loaded>
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          {texts.common.close}
        </button>
      </div>
    </Dialog>
  )
}

const Actions = ({ capture }: { capture: Screenshot }) => {
  const api = useApi()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const mayChange = useMayChange()
  const [dialog, setDialog] = useState<'none' | 'link' | 'remove'>('none')
  const close = () => setDialog('none')
  const remove = async () => {
    await api(`/v1/screenshots/${capture.id}`, { method: 'DELETE' })
    close()
    navigate('/captures')
    await client.invalidateQueries({ queryKey: ['/v1/screenshots'] })
  }
  return (
    <>
      <Link class="button" href={repeatPath(capture)}>
        {texts.record.repeat}
      </Link>
      {capture.status === 'completed' && (
        <>
          <a class="button" href={imagePath(capture.id)} download>
            {texts.record.download}
          </a>
          {mayChange && (
            <button type="button" class="button" onClick={() => setDialog('link')}>
              {texts.record.link}
            </button>
          )}
        </>
      )}
      {mayChange && (
        <button type="button" class="button danger" onClick={() => setDialog('remove')}>
          {texts.common.remove}
        </button>
      )}
      {dialog === 'link' && <SignedLink id={capture.id} onClose={close} />}
      {dialog === 'remove' && (
        <ConfirmDialog
          title={texts.record.removeTitle}
          text={texts.record.removeText}
          submit={texts.common.remove}
          onSubmit={remove}
          onClose={close}
        />
      )}
    </>
  )
}

const Details = ({ capture }: { capture: Screenshot }) => (
  <div class="record">
    <div class="stack">
      <CaptureWarnings warnings={capture.warnings ?? []} />
      <Outcome capture={capture} />
      <PageLogSections capture={capture} />
    </div>
    <div class="stack">
      <Section title={texts.record.facts}>
        <CaptureFacts capture={capture} />
      </Section>
      {capture.timings && (
        <Section title={texts.record.stages}>
          <StageBar timings={capture.timings} />
        </Section>
      )}
      <Files capture={capture} />
      <Section title={texts.record.parameters}>
        <ParameterFacts options={capture.options} />
      </Section>
      <Section title={texts.record.deliveries}>
        <Deliveries
          path={`/v1/screenshots/${capture.id}/deliveries`}
          empty={<p class="muted">{texts.record.noDeliveries}</p>}
        />
      </Section>
    </div>
  </div>
)

/** A capture with its picture, record, files and deliveries. */
export const CaptureRecord = () => {
  const { id = '' } = useParams()
  const client = useQueryClient()
  const queryKey = [`/v1/screenshots/${encodeURIComponent(id)}`]
  const query = useQuery<{ data: Screenshot }>({ queryKey })
  const capture = query.data?.data
  useEvents(capture && isOpen(capture) ? `/v1/screenshots/${id}/events` : undefined, {
    status: (content) => {
      const { status } = content as Pick<Screenshot, 'status'>
      client.setQueryData<{ data: Screenshot }>(queryKey, (old) => old && { data: { ...old.data, status } })
    },
    result: (content) => client.setQueryData(queryKey, { data: content as Screenshot }),
    deleted: () => void query.refetch(),
  })
  return (
    <Page
      title={capture ? captureName(capture) : texts.record.title}
      actions={capture && <Actions capture={capture} />}
    >
      <Loaded query={query} missing={texts.record.missing}>
        {({ data }) => <Details capture={data} />}
      </Loaded>
    </Page>
  )
}
