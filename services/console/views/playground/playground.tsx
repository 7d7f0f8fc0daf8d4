import { useEffect, useState } from 'preact/hooks'
import { servedPath } from '#console/api/base-path.ts'
import { isOperator, useMayChange, useSession } from '#console/api/session.tsx'
import { ApiError } from '#console/api/request.ts'
import { CopyButton } from '#console/components/copy-field.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { Notice } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import controlsJson from './controls.json' with { type: 'json' }
import {
  type Control,
  type Entries,
  type Entry,
  entriesOf,
  parametersOf,
  queryOf,
  requestOf,
  withoutDefaults,
} from './form.ts'
import { ParameterGroups } from './parameter-groups.tsx'
import type { PastRequest } from './request-history.ts'
import { RequestSamples } from './request-samples.tsx'
import { RunHistory, useHistory } from './run-history.tsx'
import { RunResult } from './run-result.tsx'
import { type Source, SourceBox, sourceBoxId, SourceChoice, sources } from './source-box.tsx'
import { type Run, useCaptureRun } from './use-capture-run.ts'

const controls = controlsJson as readonly Control[]
const others = controls.filter(({ group }) => group !== 'source')
const sourceControls = controls.filter(({ group }) => group === 'source')

const entriesFrom = (query: string): Entries =>
  entriesOf(controls, withoutDefaults(controls, parametersOf(controls, query)))

/** Only the chosen source is sent. */
const withSource = (entries: Entries, source: Source): Entries =>
  Object.fromEntries(
    Object.entries(entries).filter(([name]) => name === source || !sources.some((each) => each === name)),
  )

/** The messages at their controls: of entries that cannot be sent, and of the API. */
const errorsOf = (run: Run, errors: Readonly<Record<string, 'badJson' | 'badNumber'>>) => {
  const details = run.phase === 'refused' && run.error instanceof ApiError ? run.error.details : {}
  return {
    ...Object.fromEntries(Object.entries(details).map(([name, messages]) => [name, messages.join(', ')])),
    ...Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, texts.playground[error]])),
  }
}

/** Parameters of a repeated capture that its link does not have. */
const leftOutIn = (query: string): readonly string[] => {
  const named = new URLSearchParams(query).get('left_out')?.split(',') ?? []
  return controls.map(({ name }) => name).filter((name) => named.includes(name))
}

const linkTo = (query: string) => location.origin + servedPath(`/console/playground${query === '' ? '' : `?${query}`}`)

/** Fills the form from a request of before. Contents of pages are not part of it, so those of the form stay. */
const useRestore = (
  setSource: (source: Source) => void,
  setEntries: (change: (current: Entries) => Entries) => void,
) => {
  const [restored, setRestored] = useState(0)
  useEffect(() => {
    if (restored > 0) document.getElementById(sourceBoxId)?.focus()
  }, [restored])
  return ({ source, query }: PastRequest) => {
    setSource(sources.find((each) => each === source) ?? 'url')
    setEntries(({ html = '', markdown = '' }) => ({ html, markdown, ...entriesFrom(query) }))
    setRestored((count) => count + 1)
  }
}

/** What the form describes, and what becomes of it. */
const useForm = () => {
  const [source, setSource] = useState<Source>('url')
  const [entries, setEntries] = useState(() => entriesFrom(location.search))
  const { run, start, stop } = useCaptureRun()
  const { requests, add, clear } = useHistory()
  const restore = useRestore(setSource, setEntries)
  const { parameters, errors } = requestOf(controls, withSource(entries, source))
  const query = queryOf(parameters)
  const submit = async () => {
    history.replaceState(history.state, '', linkTo(query))
    const id = await start(parameters)
    if (id !== undefined) add({ id, source, query })
  }
  return {
    source,
    setSource,
    entries,
    parameters,
    run,
    stop,
    link: linkTo(query),
    history: { requests, onRestore: restore, onClear: clear },
    errors: errorsOf(run, errors),
    isBusy: run.phase === 'sending' || run.phase === 'waiting',
    reset: () => setEntries({}),
    setEntry: (name: string, entry: Entry) => setEntries((current) => ({ ...current, [name]: entry })),
    submit: (event: Event) => {
      event.preventDefault()
      if (Object.keys(errors).length === 0) void submit()
    },
  }
}

const RequestForm = ({ form }: { form: ReturnType<typeof useForm> }) => {
  const { source, entries, errors, parameters, isBusy, setEntry } = form
  const mayChange = useMayChange()
  return (
    <form class="stack" onSubmit={form.submit}>
      <SourceChoice source={source} onSource={form.setSource} />
      <div class="source-row">
        {sourceControls
          .filter(({ name }) => name === source)
          .map((control) => (
            <SourceBox
              key={control.name}
              control={control}
              entry={entries[source]}
              error={errors[source]}
              onEntry={(entry) => setEntry(source, entry)}
            />
          ))}
        <button type="submit" class="button primary" disabled={isBusy || !mayChange}>
          {texts.playground.capture}
        </button>
      </div>
      {errors[source] !== undefined && <p class="field-error">{errors[source]}</p>}
      <ParameterGroups
        controls={others}
        entries={entries}
        errors={errors}
        isSet={(name) => parameters[name] !== undefined}
        onEntry={setEntry}
      />
    </form>
  )
}

/** Try every parameter on a page, see the picture, and take the request along. */
export const Playground = () => {
  const session = useSession()
  const mayChange = useMayChange()
  const form = useForm()
  const [leftOut] = useState(() => leftOutIn(location.search))
  return (
    <Page
      title={texts.pages.playground}
      actions={
        <button type="button" class="button" onClick={form.reset}>
          {texts.playground.reset}
        </button>
      }
    >
      {!mayChange && (
        <Notice title={texts.states.forbidden}>
          {isOperator(session) ? texts.operator.readOnly : texts.common.readOnly}
        </Notice>
      )}
      {leftOut.length > 0 && <Notice title={texts.playground.leftOut}>{texts.playground.leftOutText(leftOut)}</Notice>}
      <div class="playground">
        <RequestForm form={form} />
        <div class="stack">
          <Section
            title={texts.playground.result}
            actions={
              form.isBusy && (
                <button type="button" class="button" onClick={form.stop}>
                  {texts.playground.cancel}
                </button>
              )
            }
          >
            <RunResult run={form.run} />
          </Section>
          <RequestSamples parameters={form.parameters} />
          <div class="row wrap">
            <CopyButton text={form.link} label={texts.playground.link} />
            <span class="help">{texts.playground.linkSecrets}</span>
          </div>
          <RunHistory {...form.history} />
        </div>
      </div>
    </Page>
  )
}
