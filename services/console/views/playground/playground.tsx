import { useState } from 'preact/hooks'
import { isOperator, useMayChange, useSession } from '#console/api/session.tsx'
import { ApiError } from '#console/api/request.ts'
import { CopyButton } from '#console/components/copy-field.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { Notice } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import controlsJson from './controls.json' with { type: 'json' }
import { type Control, type Entries, type Entry, entriesOf, parametersOf, queryOf, requestOf } from './form.ts'
import { ParameterGroups } from './parameter-groups.tsx'
import { RequestSamples } from './request-samples.tsx'
import { RunResult } from './run-result.tsx'
import { type Run, useCaptureRun } from './use-capture-run.ts'

const controls = controlsJson as readonly Control[]
const others = controls.filter(({ group }) => group !== 'source')

type Source = keyof typeof texts.playground.sources
const sources = Object.keys(texts.playground.sources) as Source[]

const firstEntries = (): Entries => entriesOf(controls, parametersOf(controls, location.search))

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

const SourceBox = ({ source, entry, error, onEntry }: SourceBoxProps) => {
  const shared = {
    'aria-label': texts.playground.sourceBoxes[source],
    'aria-invalid': error !== undefined,
    required: true,
    value: String(entry ?? ''),
    spellcheck: false,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => onEntry(event.currentTarget.value),
  }
  return source === 'url' ? (
    <input
      {...shared}
      class="url"
      type="text"
      inputMode="url"
      autoComplete="url"
      placeholder={texts.playground.exampleUrl}
    />
  ) : (
    <textarea {...shared} class="mono" rows={8} />
  )
}

type SourceBoxProps = {
  source: Source
  entry: Entry | undefined
  error: string | undefined
  onEntry: (entry: Entry) => void
}

const SourceChoice = ({ source, onSource }: { source: Source; onSource: (source: Source) => void }) => (
  <fieldset class="segments">
    <legend class="hidden">{texts.playground.source}</legend>
    {sources.map((each) => (
      <label key={each}>
        <input type="radio" name="source" checked={each === source} onChange={() => onSource(each)} />
        <span>{texts.playground.sources[each]}</span>
      </label>
    ))}
  </fieldset>
)

const linkTo = (query: string) => `${location.origin}/console/playground${query === '' ? '' : `?${query}`}`

/** What the form describes, and what becomes of it. */
const useForm = () => {
  const [source, setSource] = useState<Source>('url')
  const [entries, setEntries] = useState(firstEntries)
  const { run, start, stop } = useCaptureRun()
  const { parameters, errors } = requestOf(controls, withSource(entries, source))
  const link = linkTo(queryOf(parameters))
  return {
    source,
    setSource,
    entries,
    parameters,
    run,
    stop,
    link,
    errors: errorsOf(run, errors),
    isBusy: run.phase === 'sending' || run.phase === 'waiting',
    reset: () => setEntries({}),
    setEntry: (name: string, entry: Entry) => setEntries((current) => ({ ...current, [name]: entry })),
    submit: (event: Event) => {
      event.preventDefault()
      if (Object.keys(errors).length > 0) return
      history.replaceState(history.state, '', link)
      void start(parameters)
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
        <SourceBox
          source={source}
          entry={entries[source]}
          error={errors[source]}
          onEntry={(entry) => setEntry(source, entry)}
        />
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
        </div>
      </div>
    </Page>
  )
}
