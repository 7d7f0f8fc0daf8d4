import { Field } from '#console/components/field.tsx'
import { formatName } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import type { Control, Entry } from './form.ts'

type ControlProps = {
  readonly control: Control
  readonly entry: Entry | undefined
  readonly error: string | undefined
  readonly onEntry: (entry: Entry) => void
}

/** A description with `code` between backticks. */
const Described = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</>
)

const hints: Partial<Record<Control['kind'], string>> = {
  lines: texts.playground.oneLine,
  json: texts.playground.asJson,
}

const Help = ({ control: { description, feature, kind } }: Pick<ControlProps, 'control'>) => (
  <>
    <Described text={description} /> {hints[kind]}
    {feature !== undefined && <span class="feature">{texts.playground.feature(feature)}</span>}
  </>
)

const Switch = ({ control, entry, error, onEntry }: ControlProps) => (
  <div class="switch">
    <Field label={control.name} help={<Help control={control} />} error={error}>
      {(ids) => (
        <input
          {...ids}
          type="checkbox"
          checked={typeof entry === 'boolean' ? entry : control.default === true}
          onChange={(event) => onEntry(event.currentTarget.checked)}
        />
      )}
    </Field>
  </div>
)

const Choices = ({ control, entry, onEntry }: ControlProps) => {
  const chosen = Array.isArray(entry) ? (entry as readonly string[]) : []
  const toggle = (value: string) =>
    onEntry(chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value])
  return (
    <fieldset class="field">
      <legend>{control.name}</legend>
      <div class="row wrap">
        {control.values?.map((value) => (
          <label key={value} class="check">
            <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} /> {value}
          </label>
        ))}
      </div>
      <p class="help">
        <Help control={control} />
      </p>
    </fieldset>
  )
}

const Choice = ({ control, entry, error, onEntry }: ControlProps) => (
  <Field label={control.name} help={<Help control={control} />} error={error}>
    {(ids) => (
      <select {...ids} value={String(entry ?? '')} onChange={(event) => onEntry(event.currentTarget.value)}>
        <option value="">
          {control.default === undefined
            ? texts.playground.unset
            : texts.playground.standard(formatName(String(control.default)))}
        </option>
        {control.values?.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    )}
  </Field>
)

const isLong = ({ kind }: Control) => kind === 'text' || kind === 'lines' || kind === 'json'

const inputOf = (control: Control) => {
  if (control.kind !== 'integer' && control.kind !== 'number') return { type: 'text', maxLength: control.maxLength }
  const { minimum, maximum, kind } = control
  return { type: 'number', min: minimum, max: maximum, step: kind === 'integer' ? 1 : 'any' }
}

const TextBox = ({ control, entry, error, onEntry }: ControlProps) => {
  const shared = {
    value: String(entry ?? ''),
    placeholder: control.default === undefined ? '' : String(control.default),
    spellcheck: false,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => onEntry(event.currentTarget.value),
  }
  return (
    <Field label={control.name} help={<Help control={control} />} error={error}>
      {(ids) =>
        isLong(control) ? (
          <textarea {...ids} {...shared} rows={3} class="mono" />
        ) : (
          <input {...ids} {...shared} {...inputOf(control)} />
        )
      }
    </Field>
  )
}

/** The fitting control of a parameter. */
export const ParameterControl = (props: ControlProps) => {
  const { kind } = props.control
  if (kind === 'boolean') return <Switch {...props} />
  if (kind === 'choices') return <Choices {...props} />
  return kind === 'choice' ? <Choice {...props} /> : <TextBox {...props} />
}
