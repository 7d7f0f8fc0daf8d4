import { texts } from '#console/text/texts.ts'
import { Editor } from './editor.tsx'
import type { Control, Entry } from './form.ts'

/** A kind of source: a parameter that names the page, or contains it. */
export type Source = keyof typeof texts.playground.sources

/** The kinds in the order of the choice. */
export const sources = Object.keys(texts.playground.sources) as Source[]

/** Id of the text box of the source, which is the same for each kind. */
export const sourceBoxId = 'playground-source'

/** The address of the page, or an editor of its content. */
export const SourceBox = (props: {
  control: Control
  entry: Entry | undefined
  error: string | undefined
  onEntry: (entry: Entry) => void
}) => {
  const { control, entry, error, onEntry } = props
  const source = control.name as Source
  const shared = { id: sourceBoxId, value: String(entry ?? ''), maxLength: control.maxLength }
  const label = texts.playground.sourceBoxes[source]
  if (source !== 'url')
    return <Editor {...shared} key={source} label={label} isInvalid={error !== undefined} onValue={onEntry} />
  return (
    <input
      {...shared}
      class="url"
      type="text"
      inputMode="url"
      autoComplete="url"
      required
      spellcheck={false}
      aria-label={label}
      aria-invalid={error !== undefined}
      placeholder={texts.playground.exampleUrl}
      onInput={(event) => onEntry(event.currentTarget.value)}
    />
  )
}

/** Chooses the kind of source. */
export const SourceChoice = ({ source, onSource }: { source: Source; onSource: (source: Source) => void }) => (
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
