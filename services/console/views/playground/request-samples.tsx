import { useState } from 'preact/hooks'
import { CopyButton } from '#console/components/copy-field.tsx'
import { Section } from '#console/components/page.tsx'
import { texts } from '#console/text/texts.ts'
import type { Parameters } from './form.ts'
import { type Language, languages, sampleOf } from './samples.ts'

const hasSource = (parameters: Parameters) => ['url', 'html', 'markdown'].some((name) => name in parameters)

/** The same request as a program, by language. */
export const RequestSamples = ({ parameters }: { parameters: Parameters }) => {
  const [language, setLanguage] = useState<Language>('curl')
  const shown = hasSource(parameters) ? parameters : { url: texts.playground.exampleUrl, ...parameters }
  const sample = sampleOf(language, { baseUrl: location.origin, parameters: shown })
  return (
    <Section title={texts.playground.samples} actions={<CopyButton text={sample} />}>
      <fieldset class="segments">
        <legend class="hidden">{texts.playground.language}</legend>
        {(Object.keys(languages) as Language[]).map((each) => (
          <label key={each}>
            <input type="radio" name="language" checked={each === language} onChange={() => setLanguage(each)} />
            <span>{languages[each]}</span>
          </label>
        ))}
      </fieldset>
      {/* Scrolls, so that it needs focus. */}
      <pre class="code" tabIndex={0} role="region" aria-label={languages[language]}>
        {sample}
      </pre>
      <p class="help">{texts.playground.sampleKey}</p>
    </Section>
  )
}
