import { useState } from 'preact/hooks'
import { servedPath } from '#console/api/base-path.ts'
import { CopyButton } from '#console/components/copy-field.tsx'
import { Section } from '#console/components/page.tsx'
import { texts } from '#console/text/texts.ts'
import type { Parameters } from './form.ts'
import { ImageLink } from './image-link.tsx'
import { type Language, languages, sampleOf } from './samples.ts'

const hasSource = (parameters: Parameters) => ['url', 'html', 'markdown'].some((name) => name in parameters)

/** What is shown: a program in a language, or an image element. */
type Kind = Language | 'link'

const kinds: Readonly<Record<Kind, string>> = { ...languages, link: texts.playground.imageLink }

const Program = ({ language, sample }: { language: Language; sample: string }) => (
  <>
    {/* Scrolls, so that it needs focus. */}
    <pre class="code" tabIndex={0} role="region" aria-label={languages[language]}>
      {sample}
    </pre>
    <p class="help">{texts.playground.sampleKey}</p>
  </>
)

/** The same request as a program, by language, or as a link that captures when it is viewed. */
export const RequestSamples = ({ parameters }: { parameters: Parameters }) => {
  const [kind, setKind] = useState<Kind>('curl')
  const shown = hasSource(parameters) ? parameters : { url: texts.playground.exampleUrl, ...parameters }
  const sample =
    kind === 'link' ? undefined : sampleOf(kind, { baseUrl: location.origin + servedPath(''), parameters: shown })
  return (
    <Section title={texts.playground.samples} actions={sample !== undefined && <CopyButton text={sample} />}>
      <fieldset class="segments">
        <legend class="hidden">{texts.playground.language}</legend>
        {(Object.keys(kinds) as Kind[]).map((each) => (
          <label key={each}>
            <input type="radio" name="language" checked={each === kind} onChange={() => setKind(each)} />
            <span>{kinds[each]}</span>
          </label>
        ))}
      </fieldset>
      {kind === 'link' ? <ImageLink parameters={shown} /> : <Program language={kind} sample={sample ?? ''} />}
    </Section>
  )
}
