import { useState } from 'preact/hooks'
import { texts } from '#console/text/texts.ts'
import { ParameterControl } from './controls.tsx'
import type { Control, Entries, Entry } from './form.ts'

type FormState = {
  readonly controls: readonly Control[]
  readonly entries: Entries
  readonly errors: Readonly<Record<string, string>>
  /** Names of the parameters that the request has. */
  readonly isSet: (name: string) => boolean
  readonly onEntry: (name: string, entry: Entry) => void
}

const matches = ({ name, description }: Control, text: string) =>
  `${name} ${name.replaceAll('_', ' ')} ${description}`.toLowerCase().includes(text.trim().toLowerCase())

const Group = ({ title, form, isOpen }: { title: string; form: FormState; isOpen: boolean }) => {
  const { controls, entries, errors, isSet, onEntry } = form
  const count = controls.filter(({ name }) => isSet(name)).length
  return (
    <details class="group" open={isOpen}>
      <summary>
        {title}
        {count > 0 && <span class="count">{texts.playground.setCount(count)}</span>}
      </summary>
      <div class="controls">
        {controls.map((control) => (
          <ParameterControl
            key={control.name}
            control={control}
            entry={entries[control.name]}
            error={errors[control.name]}
            onEntry={(entry) => onEntry(control.name, entry)}
          />
        ))}
      </div>
    </details>
  )
}

/** All parameters but the source in their groups, which a text filters by name and description. */
export const ParameterGroups = (form: FormState) => {
  const [text, setText] = useState('')
  const groups = Object.entries(texts.playground.groups)
    .map(([group, title]) => ({
      title,
      controls: form.controls.filter((control) => control.group === group && matches(control, text)),
    }))
    .filter(({ controls }) => controls.length > 0)
  return (
    <div class="groups">
      <input
        type="search"
        aria-label={texts.playground.find}
        placeholder={texts.playground.find}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {groups.map(({ title, controls }) => (
        <Group
          key={title}
          title={title}
          form={{ ...form, controls }}
          isOpen={text !== '' || controls.some(({ name }) => form.errors[name] !== undefined)}
        />
      ))}
      {groups.length === 0 && <p class="muted">{texts.playground.nothingFound}</p>}
    </div>
  )
}
