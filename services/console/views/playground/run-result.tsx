import type { Screenshot } from '#client/responses.js'
import { useEffect, useRef } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { imagePath } from '#console/api/records.ts'
import { CaptureFailure, CaptureWarnings } from '#console/components/capture-outcome.tsx'
import { FileResult, fileFormat } from '#console/components/file-result.tsx'
import { StageBar } from '#console/components/stage-bar.tsx'
import { ErrorNotice, Notice } from '#console/components/state.tsx'
import { formatBytes, formatDuration } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import type { Run } from './use-capture-run.ts'

const Picture = ({ record }: { record: Screenshot }) => {
  const format = fileFormat(record)
  if (format !== undefined) return <FileResult id={record.id} format={format} />
  const path = imagePath(record.id)
  return (
    <a class="picture" href={path} target="_blank" rel="noreferrer">
      <img src={path} alt={texts.playground.picture} width={record.width} height={record.height} />
    </a>
  )
}

const Facts = ({ record }: { record: Screenshot }) => (
  <p class="facts">
    {record.width !== undefined && (
      <span>
        {record.width} × {record.height} px
      </span>
    )}
    {record.file_size !== undefined && <span>{formatBytes(record.file_size)}</span>}
    {record.processing_time_ms !== undefined && <span>{formatDuration(record.processing_time_ms)}</span>}
    <Link href={`/captures/${record.id}`}>{texts.playground.record}</Link>
  </p>
)

const waitingTitle = ({ status, position }: Extract<Run, { phase: 'waiting' }>) => {
  if (status === 'processing') return texts.playground.running
  return position === undefined ? texts.playground.waiting : texts.playground.position(position)
}

/** What became of the request: how it waits, its picture, or why there is none. Scrolled to where the form fills the screen. */
export const RunResult = ({ run }: { run: Run }) => {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (run.phase !== 'none') element.current?.scrollIntoView({ block: 'nearest' })
  }, [run.phase])
  return (
    <div ref={element}>
      <Outcome run={run} />
    </div>
  )
}

const Outcome = ({ run }: { run: Run }) => {
  if (run.phase === 'none') return <Notice title={texts.playground.before}>{texts.playground.beforeText}</Notice>
  if (run.phase === 'refused') return <ErrorNotice title={texts.playground.refused} error={run.error} />
  if (run.phase !== 'ended')
    return (
      <div class="notice busy" role="status">
        <p class="notice-title">{run.phase === 'waiting' ? waitingTitle(run) : texts.playground.capturing}</p>
        <div class="progress" />
      </div>
    )
  const { record } = run
  return (
    <div class="stack">
      {record.error && <CaptureFailure error={record.error} />}
      <Facts record={record} />
      <CaptureWarnings warnings={record.warnings ?? []} />
      {record.status === 'completed' && <Picture record={record} />}
      {record.timings && <StageBar timings={record.timings} />}
    </div>
  )
}
