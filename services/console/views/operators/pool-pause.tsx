import { useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useApi, useSession } from '#console/api/session.tsx'
import { ConfirmDialog, Dialog, DialogForm } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { Time } from '#console/components/time.tsx'
import { texts } from '#console/text/texts.ts'
import { operatorPath, type PoolPause, type PoolState } from './records.ts'

const words = texts.operator.pools
/** Bound of the reason in characters, as in the API. */
const reasonMax = 200
const hourMs = 3_600_000

type DialogProps = {
  readonly pool: string
  readonly send: (method: 'PUT' | 'DELETE', body?: object) => Promise<void>
  readonly onClose: () => void
}

const PauseDialog = ({ pool, send, onClose }: DialogProps) => {
  const [reason, setReason] = useState('')
  const [hours, setHours] = useState('')
  const pause = () =>
    send('PUT', { reason, ...(hours && { until: new Date(Date.now() + Number(hours) * hourMs).toISOString() }) })
  return (
    <Dialog title={words.pauseTitle(pool)} onClose={onClose}>
      <DialogForm danger submit={words.pause} onSubmit={pause} onClose={onClose}>
        <p>{words.pauseText}</p>
        <Field label={words.pauseReason}>
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={reasonMax}
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={words.pauseEnd}>
          {(ids) => (
            <select {...ids} value={hours} onChange={(event) => setHours(event.currentTarget.value)}>
              {words.pauseEnds.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}

/** The button that pauses or resumes a pool; only for operators who may change something. */
export const PauseButton = ({ pool: { pool, pause } }: { readonly pool: PoolState }) => {
  const api = useApi()
  const client = useQueryClient()
  const { role } = useSession()
  // Fixed at the click: another operator may change the pool while the dialog is open.
  const [asked, setAsked] = useState<'pause' | 'resume'>()
  if (role !== 'operator') return null
  const onClose = () => setAsked(undefined)
  const send: DialogProps['send'] = async (method, body) => {
    await api(`${operatorPath}/pools/${pool}/pause`, { method, ...(body && { body }) })
    await client.invalidateQueries({ queryKey: [`${operatorPath}/pools`] })
    onClose()
  }
  return (
    <>
      <button type="button" class="button" onClick={() => setAsked(pause ? 'resume' : 'pause')}>
        {pause ? words.resumeName(pool) : words.pauseName(pool)}
      </button>
      {asked === 'pause' && <PauseDialog pool={pool} send={send} onClose={onClose} />}
      {asked === 'resume' && (
        <ConfirmDialog
          title={words.resumeTitle(pool)}
          text={words.resumeText}
          submit={words.resume}
          onSubmit={() => send('DELETE')}
          onClose={onClose}
        />
      )}
    </>
  )
}

/** That a pool is paused: since when, until when, by whom and why. */
export const PauseState = ({ pause: { state, since, until, by, reason } }: { readonly pause: PoolPause }) => (
  <p>
    <StatusBadge tone="busy" label={words.pauseStates[state]} /> {words.pausedSince} <Time at={since} />
    {until && (
      <>
        {words.pausedUntil} <Time at={until} />
      </>
    )}
    {words.pausedBy(by, reason)}
  </p>
)
